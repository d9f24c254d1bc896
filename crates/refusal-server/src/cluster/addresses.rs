//! The addresses of networks: given, and given back.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde::Serialize;
use utoipa::ToSchema;

use super::config::Network;
use super::refusals::{CongestedNetwork, DependencyNotReady, Plain};
use super::wanted::WantedInterface;
use crate::refusal::{Failure, Refused};

/// The addresses of all networks.
#[derive(Debug)]
pub(super) struct Addresses {
    pools: Vec<Pool>,
}

#[derive(Debug)]
struct Pool {
    network: Network,
    ready: bool,
    used: BTreeSet<Ipv4Addr>,
}

/// An instance's place on a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Interface {
    pub(super) network_uuid: String,
    #[schema(value_type = String, format = Ipv4)]
    pub(super) address: Ipv4Addr,
}

impl Addresses {
    pub(super) fn new(networks: &[Network]) -> Self {
        let pool = |network: &Network| Pool { network: network.clone(), ready: true, used: BTreeSet::new() };
        Self { pools: networks.iter().map(pool).collect() }
    }

    /// Whether all of these networks exist, have the addresses that are asked for, and can be used by now.
    pub(super) fn check(&self, wanted: &[WantedInterface]) -> Result<(), Refused> {
        for interface in wanted {
            let id = &interface.network_uuid;
            let Some(pool) = self.pools.iter().find(|pool| pool.network.id == *id) else {
                return Err(Plain(Failure::NotFound(format!("network not found: {id}"))).into());
            };
            if let Some(address) = interface.address.filter(|address| !pool.network.holds(*address)) {
                let Network { first, last, .. } = &pool.network;
                return Err(Plain(Failure::Conflict(format!(
                    "the network `{id}` has the addresses {first} to {last}, and {address} was asked for"
                )))
                .into());
            }
            if !pool.ready {
                return Err(DependencyNotReady(format!("the network `{id}` is not ready")).into());
            }
        }
        Ok(())
    }

    /// Takes the address that is asked for, or any that is free.
    pub(super) fn allocate(&mut self, wanted: &WantedInterface) -> Result<Interface, CongestedNetwork> {
        let network_uuid = wanted.network_uuid.clone();
        let Some(pool) = self.pool(&network_uuid) else {
            // `check` lets no other pass; an empty pool is what a missing one amounts to.
            return Err(CongestedNetwork(format!("the network `{network_uuid}` has no free address")));
        };
        let address = match wanted.address {
            Some(address) if pool.used.contains(&address) => {
                return Err(CongestedNetwork(format!(
                    "the address {address} of the network `{network_uuid}` is in use"
                )));
            }
            Some(address) => address,
            None => pool.any_free().ok_or_else(|| {
                CongestedNetwork(format!("the network `{network_uuid}` has no free address"))
            })?,
        };
        pool.used.insert(address);
        Ok(Interface { network_uuid, address })
    }

    pub(super) fn release(&mut self, interfaces: &[Interface]) {
        for Interface { network_uuid, address } in interfaces {
            if let Some(pool) = self.pool(network_uuid) {
                pool.used.remove(address);
            }
        }
    }

    /// Makes a network ready or not, or all of them; `false` when there is no such network.
    pub(super) fn set_ready(&mut self, network: Option<&str>, ready: bool) -> bool {
        let mut found = network.is_none();
        for pool in &mut self.pools {
            if network.is_none_or(|network| network == pool.network.id) {
                pool.ready = ready;
                found = true;
            }
        }
        found
    }

    /// Each network's name, whether it is ready, and how many of its addresses are used.
    pub(super) fn networks(&self) -> impl Iterator<Item = (&str, bool, usize)> {
        self.pools.iter().map(|pool| (pool.network.id.as_str(), pool.ready, pool.used.len()))
    }

    fn pool(&mut self, network: &str) -> Option<&mut Pool> {
        self.pools.iter_mut().find(|pool| pool.network.id == network)
    }
}

impl Pool {
    /// The first free address at or after a random one, so that an address that was just given back is not the
    /// next to be given out.
    fn any_free(&self) -> Option<Ipv4Addr> {
        let (first, last) = (self.network.first.to_bits(), self.network.last.to_bits());
        let start = rand::random_range(first..=last);
        (start..=last)
            .chain(first..start)
            .map(Ipv4Addr::from_bits)
            .find(|address| !self.used.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four() -> Addresses {
        let (first, last) = (Ipv4Addr::new(10, 0, 0, 254), Ipv4Addr::new(10, 0, 1, 1));
        Addresses::new(&[Network { id: "net".into(), first, last }])
    }

    fn wanted(address: Option<Ipv4Addr>) -> WantedInterface {
        WantedInterface { network_uuid: "net".into(), address }
    }

    #[test]
    fn a_pool_gives_each_address_once_and_again_after_its_release() {
        let mut addresses = four();
        let given: Vec<_> = (0..4).map(|_| addresses.allocate(&wanted(None)).unwrap()).collect();
        let distinct: BTreeSet<_> = given.iter().map(|interface| interface.address).collect();
        assert_eq!(distinct.len(), 4);
        let refused = addresses.allocate(&wanted(None)).unwrap_err();
        assert_eq!(refused.0, "the network `net` has no free address");
        addresses.release(&given[2..3]);
        assert_eq!(addresses.allocate(&wanted(None)), Ok(given[2].clone()));
    }

    #[test]
    fn an_address_that_is_asked_for_is_given_unless_it_is_in_use() {
        let (mut addresses, asked) = (four(), Ipv4Addr::new(10, 0, 0, 255));
        assert_eq!(addresses.allocate(&wanted(Some(asked))).unwrap().address, asked);
        let refused = addresses.allocate(&wanted(Some(asked))).unwrap_err();
        assert_eq!(refused.0, "the address 10.0.0.255 of the network `net` is in use");
    }
}
