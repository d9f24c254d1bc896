//! The program as a child process, and pushes to it over plain sockets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use hub_protocol::{
    Commit, FileEntry, Id, Limits, PackSink, PackWriter, RepositoryPath, Snapshot, Totals, read_pack,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "secret";

/// A running server; killed when dropped.
pub(crate) struct Program {
    child: Child,
    stdout: BufReader<ChildStdout>,
    data: Option<TempDir>,
    log: tempfile::NamedTempFile,
    pub(crate) ready: String,
    pub(crate) url: String,
}

impl Program {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with_environment(&[], arguments)
    }

    pub(crate) fn start_with_environment(environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), None, environment, arguments)
    }

    /// Starts the program with a limit on the size of each file, in bytes, beyond which writes fail.
    pub(crate) fn start_with_largest_file(bytes: u64, arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), Some(bytes), &[], arguments)
    }

    fn start_in(
        data: TempDir,
        largest_file: Option<u64>,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Self {
        let program = env!("CARGO_BIN_EXE_refusal-server");
        let mut command = match largest_file {
            None => Command::new(program),
            Some(bytes) => {
                // An ignored SIGXFSZ is inherited: the write fails with an error, as on a full disk.
                let mut shell = Command::new("bash");
                let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 1024);
                shell.args(["-c", &script, program]);
                shell
            }
        };
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut child = command
            .envs(environment.iter().copied())
            .args(["--dev-token", TOKEN])
            .args(arguments)
            .arg("--data")
            .arg(data.path())
            .stdout(Stdio::piped())
            .stderr(log.reopen().unwrap())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        stdout.read_line(&mut ready).unwrap();
        let url = ready.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        assert!(url.starts_with("http://"), "no ready line: {ready:?}");
        Self { child, stdout, data: Some(data), log, ready, url }
    }

    /// What it has written to stderr.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.as_ref().expect("the data is there until the program is restarted").path()
    }

    /// SIGKILL, and a new process on the same data.
    pub(crate) fn kill_and_start(mut self, arguments: &[&str]) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let data = self.data.take().expect("the data is there until the program is restarted");
        Self::start_in(data, None, &[], arguments)
    }

    /// Sends a signal, and returns the exit code and what else was on stdout.
    pub(crate) fn end_with(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        text(self.request("GET", path, "", b""))
    }

    pub(crate) fn get_bytes(&self, path: &str) -> (u16, Vec<u8>) {
        self.request("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, String) {
        text(self.request("POST", path, "", body.to_string().as_bytes()))
    }

    fn post_as(&self, token: &str, path: &str, body: &Value) -> (u16, String) {
        let field = format!("authorization: Bearer {token}\r\n");
        text(self.request("POST", path, &field, body.to_string().as_bytes()))
    }

    /// One request on one connection.
    fn request(&self, method: &str, path: &str, fields: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let host = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{fields}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (status, answer.split_off(end + 4))
    }

    pub(crate) fn wait_for_job(&self, kind: &str, state: &str) {
        self.wait_for_jobs(|jobs| {
            jobs.iter().rfind(|job| job["kind"] == kind).is_some_and(|job| job["state"] == state)
        });
    }

    /// Looks at the queue again and again, and gives up after a time that no job of a test comes near.
    pub(crate) fn wait_for_jobs(&self, is_so: impl Fn(&[Value]) -> bool) {
        for _ in 0..6_000 {
            let (_, listed) = self.get("/_admin/jobs");
            let listed: Value = serde_json::from_str(&listed).unwrap();
            if is_so(listed["jobs"].as_array().unwrap()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the queue did not come to what was expected: {}", self.get("/_admin/jobs").1);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}

fn text((status, body): (u16, Vec<u8>)) -> (u16, String) {
    (status, String::from_utf8(body).unwrap())
}

pub(crate) fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned()
}

/// Bytes that do not compress, the same each time.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .flatten()
    .take(length)
    .collect()
}

/// One commit with one file, and its pack.
pub(crate) struct Push {
    branch: String,
    pub(crate) token: String,
    pub(crate) head: Id,
    pub(crate) mpack_id: Id,
    pack: Vec<u8>,
    object: Id,
}

impl Push {
    pub(crate) fn of(content: &str) -> Self {
        Self::of_bytes(content.into())
    }

    pub(crate) fn of_bytes(content: Vec<u8>) -> Self {
        Self::new("a commit", content)
    }

    pub(crate) fn with_long_message(number: u32, length: usize) -> Self {
        let message: String = noise(length).iter().map(|byte| char::from(b'a' + byte % 26)).collect();
        Self::new(&format!("{number} {message}"), vec![1])
    }

    fn new(message: &str, content: Vec<u8>) -> Self {
        let object = Id::of(&content);
        let entry = FileEntry { object, executable: false };
        let files = BTreeMap::from([(RepositoryPath::new("file").unwrap(), entry)]);
        let snapshot = Snapshot::new(files).unwrap();
        let commit = Commit::new(vec![], snapshot.id(), message, "2026-11-30T12:00:00Z").unwrap();
        let totals = Totals { commits: 1, snapshots: 1, objects: 1, bytes: content.len() as u64 };
        let mut writer = PackWriter::new(Vec::new(), totals).unwrap();
        writer.commit(&commit).unwrap();
        writer.snapshot(&snapshot).unwrap();
        writer.object(object, content.len() as u64, content.as_slice()).unwrap();
        let (pack, summary) = writer.finish().unwrap();
        Self {
            branch: "main".into(),
            token: TOKEN.into(),
            head: commit.id(),
            mpack_id: summary.mpack_id,
            pack,
            object,
        }
    }

    pub(crate) fn on_branch(mut self, branch: &str) -> Self {
        self.branch = branch.into();
        self
    }

    /// All three steps, to `/owner/slug`.
    #[track_caller]
    pub(crate) fn to(&self, program: &Program) {
        let (status, text) = self.try_to(program);
        assert_eq!(status, 200, "{text}");
    }

    /// The answer of the first step that failed, or of the last.
    pub(crate) fn try_to(&self, program: &Program) -> (u16, String) {
        let uploaded = self.upload(program);
        if uploaded.0 != 201 {
            return uploaded;
        }
        let body = json!({ "mpack_id": self.mpack_id, "branch": self.branch, "head": self.head });
        program.post_as(&self.token, "/owner/slug/push/unpack-mpack", &body)
    }

    pub(crate) fn upload(&self, program: &Program) -> (u16, String) {
        let body = json!({ "mpack_id": self.mpack_id, "size": self.pack.len(), "public": true });
        let (status, answer) = program.post_as(&self.token, "/owner/slug/push/mpack-presign", &body);
        if status != 200 {
            return (status, answer);
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let url = answer["upload_url"].as_str().unwrap();
        text(program.request("PUT", &url[program.url.len()..], "", &self.pack))
    }

    /// Whether `pack` is a good one that holds this commit and its object.
    pub(crate) fn is_whole(&self, pack: &[u8]) -> bool {
        let mut found = Found::default();
        read_pack(pack, &Limits::default(), &mut found).unwrap();
        found.0.contains(&self.head) && found.0.contains(&self.object)
    }
}

#[derive(Default)]
struct Found(Vec<Id>);

impl PackSink for Found {
    fn commit(&mut self, id: Id, _commit: Commit) -> std::io::Result<()> {
        self.0.push(id);
        Ok(())
    }

    fn snapshot(&mut self, _id: Id, _snapshot: Snapshot) -> std::io::Result<()> {
        Ok(())
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn object_chunk(&mut self, _chunk: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> std::io::Result<()> {
        self.0.push(id);
        Ok(())
    }
}
