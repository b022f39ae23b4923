//! Servers and clients that write to each other on one connection.

use celltrain_engine::{Instant, quantity::Duration, time::NEVER};
use celltrain_tcp::{Duplex, Tcp};

use super::{Builder, stop_of};
use crate::{
    host::Member,
    scenario::{Flow, RequestResponse},
    traffic::{
        lengths::Lengths,
        request_response::{Messages, Party, Pause},
        source::{Kind, Source},
    },
};

impl Builder<'_> {
    /// Puts the server at endpoint `server` of the flow's first host and the client at `client` of its second. The client begins at `start`.
    pub(super) fn parties(
        &mut self,
        flow: &Flow,
        form: &RequestResponse,
        [server, client]: [usize; 2],
        start: Instant,
    ) {
        let generator = |what: &str| self.randomness.named(&format!("flow {} {what}", flow.name));
        let requests = Messages { size: form.request.clone(), generator: generator("requests") };
        let answers = Messages { size: form.response.clone(), generator: generator("answers") };
        let pause = |mean: Duration, distribution, what| Pause {
            lengths: Lengths::new(distribution, mean, None),
            generator: generator(what),
        };
        let service = pause(form.service, form.service_distribution, "service");
        let think = pause(form.think, form.think_distribution, "thinking");
        let asks = generator("congestion control of requests");
        let source = self.writes(flow.from, server, Instant::at(NEVER));
        let party = Party::server(source, requests.clone(), answers.clone(), service);
        self.host(flow.from).endpoints[server].member = Some(Member::Party(Box::new(party)));
        let source = self.writes(flow.to, client, start);
        let party = Party::client(source, requests, answers, think, stop_of(flow));
        let endpoint = &mut self.host(flow.to).endpoints[client];
        endpoint.member = Some(Member::Party(Box::new(party)));
        if let Some(sender) = endpoint.tcp.sender_mut() {
            sender.seed(asks);
        }
    }

    /// Lets a party write at an endpoint of a host: its number among the host's sources.
    fn writes(&mut self, host: usize, endpoint: usize, next: Instant) -> u32 {
        let sources = &mut self.host(host).sources;
        sources.push(Source { kind: Kind::Party { endpoint: endpoint as u32 }, next });
        sources.len() as u32 - 1
    }
}

/// The ends of a connection between a server and a client, in this order.
pub(super) fn duplex_ends(flow: &Flow) -> [Tcp; 2] {
    [Duplex::accepting(&flow.tcp), Duplex::opening(&flow.tcp)].map(|end| Tcp::Duplex(Box::new(end)))
}
