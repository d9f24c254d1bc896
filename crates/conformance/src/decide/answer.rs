//! Answers, with their fields in the order in which they are written.

use serde::Serialize;

use super::json::Invalid;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Parse(ParseAnswer),
    Session(SessionAnswer),
    Windows(WindowsAnswer),
    Error { error: String },
}

#[derive(Serialize)]
#[serde(tag = "kind")]
pub(super) enum ParseAnswer {
    #[serde(rename = "absent")]
    Absent,
    #[serde(rename = "malformed")]
    Malformed { reason: &'static str },
    #[serde(rename = "delay")]
    Delay { seconds: u64, anomalies: Vec<&'static str> },
    #[serde(rename = "date")]
    Date { unix: i64, delay: u64, anomalies: Vec<&'static str> },
}

#[derive(Serialize)]
pub(super) struct SessionAnswer {
    pub(super) outcome: &'static str,
    pub(super) attempts: u32,
    pub(super) waited_ms: u64,
    pub(super) ended_at_ms: u64,
    pub(super) steps: Vec<Step>,
}

#[derive(Serialize)]
pub(super) struct Step {
    pub(super) at_ms: u64,
    #[serde(flatten)]
    pub(super) decision: StepDecision,
}

#[derive(Serialize)]
#[serde(tag = "decision")]
pub(super) enum StepDecision {
    #[serde(rename = "wait")]
    Wait { wait_ms: u64, hint_ms: Option<u64>, applied: Vec<&'static str> },
    #[serde(rename = "stop")]
    Stop { reason: &'static str, hint_ms: Option<u64> },
    #[serde(rename = "done")]
    Done,
}

#[derive(Serialize)]
pub(super) struct WindowsAnswer {
    pub(super) answers: Vec<KeyAnswer>,
    pub(super) size: usize,
}

#[derive(Serialize)]
pub(super) struct KeyAnswer {
    pub(super) at_ms: u64,
    pub(super) not_before_ms: Option<u64>,
}

impl Answer {
    pub(super) fn write(&self, output: &mut Vec<u8>) {
        serde_json::to_writer(output, self).expect("neither strings nor integers nor memory can fail");
    }
}

impl From<Invalid> for Answer {
    fn from(invalid: Invalid) -> Self {
        Self::Error { error: invalid.to_string() }
    }
}
