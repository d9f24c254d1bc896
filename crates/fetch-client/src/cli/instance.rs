//! `instance`: a cluster's instances, as JSON on standard output.

use std::sync::Arc;

use serde::Serialize;

use super::arguments::{self, CreateInstance, InstanceCommand, Stay};
use super::exit;
use super::failure::Failure;
use super::run::{Program, print, settings};
use crate::budget::seconds;
use crate::cluster::{
    AffinityRequest, Cluster, ClusterError, ClusterRefusal, ClusterSettings, Credentials, InstanceRequest,
    InterfaceRequest, Strategy,
};

/// Does what was asked and returns the exit code.
pub(super) async fn run(program: &Program, command: InstanceCommand) -> u8 {
    let done = match command {
        InstanceCommand::Create(arguments) => create(program, arguments).await,
        InstanceCommand::Get(named) => one(program, &named, async |cluster, id| cluster.get(id).await).await,
        InstanceCommand::Delete(named) => {
            one(program, &named, async |cluster, id| cluster.delete(id).await).await
        }
        InstanceCommand::List(arguments) => match client(program, &arguments, false) {
            Ok(cluster) => cluster.list().await.map(|instances| show(&instances)).map_err(Failure::from),
            Err(failure) => Err(failure),
        },
    };
    done.unwrap_or_else(|failure| failure.tell(&program.console))
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        let code = match &error {
            ClusterError::Interrupted => exit::INTERRUPTED,
            ClusterError::Address(_) | ClusterError::Id(_) => exit::USER_ERROR,
            ClusterError::Refused(refusal) if refusal.status.is_client_error() => exit::USER_ERROR,
            _ => exit::INTERNAL,
        };
        let advice = error.refusal().and_then(advice).map(|advice| format!("; {advice}")).unwrap_or_default();
        Self::new(code, format_args!("{error}{advice}"))
    }
}

/// What to do about a refusal for want of capacity.
fn advice(refusal: &ClusterRefusal) -> Option<String> {
    let stage = refusal.stage()?;
    Some(if !refusal.is_transient() {
        format!("waiting does not help (stage {}): ask for less, or for something else", stage.escape_debug())
    } else if refusal.stop.is_some_and(|stop| stop.reason.name() != "disabled") {
        format!("it may pass (stage {}): ask again later", stage.escape_debug())
    } else {
        format!(
            "it may pass (stage {}): ask again later, or with --retry-transient-capacity",
            stage.escape_debug()
        )
    })
}

async fn create(program: &Program, arguments: CreateInstance) -> Result<u8, Failure> {
    let cluster = client(program, &arguments.cluster, arguments.retry_transient_capacity)?;
    let interface = |given: String| match given.split_once('=') {
        Some((network, address)) => {
            InterfaceRequest { network_uuid: network.to_owned(), address: Some(address.to_owned()) }
        }
        None => InterfaceRequest { network_uuid: given, address: None },
    };
    let request = InstanceRequest {
        name: arguments.name,
        cpus: arguments.cpus,
        memory: arguments.memory,
        disk: arguments.disk,
        network: arguments.network.into_iter().map(interface).collect(),
        placed_on: arguments.placed_on,
        tags: arguments.tag,
        affinity: AffinityRequest {
            together_with: arguments.together_with,
            apart_from: arguments.apart_from,
        },
    };
    let instance = match cluster.create(&request).await {
        // It exists: its id must not be lost with the error.
        Err(ClusterError::Unwatched { instance, error }) => {
            show(&instance);
            return Err(ClusterError::Unwatched { instance, error }.into());
        }
        created => created?,
    };
    let code = show(&instance);
    if instance.state == "error" {
        let text = format!("the instance {} was created and could not be started", instance.uuid);
        return Err(Failure::internal(text));
    }
    Ok(code)
}

async fn one<T: Serialize>(
    program: &Program,
    named: &arguments::NamedInstance,
    work: impl AsyncFnOnce(&Cluster, &str) -> Result<T, ClusterError>,
) -> Result<u8, Failure> {
    let cluster = client(program, &named.cluster, false)?;
    Ok(show(&work(&cluster, &named.uuid).await?))
}

fn client(program: &Program, given: &arguments::Cluster, retry: bool) -> Result<Cluster, Failure> {
    let strategy = match (&given.timeout, given.strategy) {
        (Some(timeout), _) => Strategy::Within(seconds(timeout).ok_or_else(|| {
            Failure::user(format!("--timeout: expected a number of seconds such as 10, got {timeout:?}"))
        })?),
        (None, Stay::Continue) => Strategy::Continue,
        (None, Stay::Pause) => Strategy::Pause,
        (None, Stay::Block) => Strategy::Block,
    };
    let credentials = Credentials::new(given.namespace.as_str(), given.key.as_str());
    let chosen = ClusterSettings {
        retry_transient_capacity: retry,
        strategy,
        ..ClusterSettings::new(given.url.parse()?, credentials)
    };
    let console = Arc::clone(&program.console);
    Ok(Cluster::new(chosen, settings())
        .with_cancel(program.cancel.clone())
        .with_observer(move |wait| console.line(&format!("⏳ no capacity: {wait}"))))
}

fn show<T: Serialize>(shown: &T) -> u8 {
    print(&serde_json::to_string_pretty(shown).expect("what came as JSON is JSON"))
}
