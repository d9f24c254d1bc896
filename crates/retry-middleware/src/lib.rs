//! The one retry loop over [`retry_core`]: asks, attempts, decides, waits, asks again.
//!
//! [`Driver::run`] takes a [`LogicalRequest`](retry_core::LogicalRequest) and an [`Exchange`] that makes
//! single attempts. It sleeps between attempts and nobody else does; it decides nothing, the core does. Two
//! faces put it into clients that exist already: `RetryMiddleware` (feature `reqwest`) and `RetryLayer`
//! (feature `tower`).
//!
//! # reqwest
//!
//! ```no_run
//! use retry_core::profiles;
//! use retry_middleware::{Report, RetryMiddleware, client_builder};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = reqwest_middleware::ClientBuilder::new(client_builder().build()?)
//!     .with(RetryMiddleware::new(profiles::RECOMMENDED))
//!     .build();
//! let response = client.get("http://example.com/").send().await?;
//! if let Some(stop) = response.extensions().get::<Report>().and_then(|report| report.stop) {
//!     println!("still {}: {stop}", response.status());
//! }
//! # Ok(()) }
//! ```
//!
//! # tower, with hyper's client, in an axum handler
//!
//! Clones of the service share what servers told them, so one service in the state serves all handlers.
//!
//! ```no_run
//! use axum::{Router, extract::State, http::StatusCode, routing::get};
//! use bytes::Bytes;
//! use http_body_util::Empty;
//! use hyper_util::client::legacy::{Client, connect::HttpConnector};
//! use hyper_util::rt::TokioExecutor;
//! use retry_core::profiles;
//! use retry_middleware::{RetryLayer, RetryService};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! type Upstream = RetryService<Client<HttpConnector, Empty<Bytes>>>;
//!
//! async fn relay(State(upstream): State<Upstream>) -> StatusCode {
//!     let request = http::Request::get("http://example.com/").body(Empty::new());
//!     let request = request.expect("these parts are valid");
//!     upstream.oneshot(request).await.map_or(StatusCode::BAD_GATEWAY, |response| response.status())
//! }
//!
//! let upstream: Upstream = ServiceBuilder::new()
//!     .layer(RetryLayer::new(profiles::RECOMMENDED))
//!     .service(Client::builder(TokioExecutor::new()).build_http());
//! let app: Router = Router::new().route("/", get(relay)).with_state(upstream);
//! ```
//!
//! # Windows by credential
//!
//! Where a server counts each account apart, a refusal of one must not hold the others. A key keeps the name
//! of an account, and not its secret: keys stand in errors.
//!
//! ```
//! use retry_core::profiles;
//! use retry_middleware::{Destination, Key, RetryLayer};
//!
//! fn by_account(destination: &Destination<'_>) -> Key {
//!     let account = destination.headers.get("x-account").and_then(|name| name.to_str().ok());
//!     Key::new(format!("{}, account {}", Key::of(destination), account.unwrap_or("none")))
//! }
//!
//! let layer = RetryLayer::new(profiles::RECOMMENDED).with_key(by_account);
//! ```
//!
//! # A policy from a file
//!
//! With retry-core's feature `serde`. What contradicts itself is refused; what only looks odd is a warning.
//!
//! ```
//! use retry_core::Policy;
//! use retry_middleware::RetryMiddleware;
//!
//! let policy: Policy = toml::from_str(
//!     r#"
//!     profile = "recommended"
//!     budget_ms = 60_000
//!     max_attempts = 5
//!     retry_on = [{ status = 429 }, { status = 503, needs = "hint" }]
//!     "#,
//! )?;
//! assert_eq!(policy.warnings().count(), 0);
//! let middleware = RetryMiddleware::new(policy);
//! # Ok::<(), toml::de::Error>(())
//! ```
//!
//! # Without async
//!
//! The core knows neither tokio nor futures. A closure that sends and [`std::thread::sleep`] are a driver, too:
//!
//! ```
//! use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
//!
//! use http::{HeaderMap, StatusCode};
//! use retry_core::{Decision, LogicalRequest, Monotonic, Outcome, Policy, Replay, Step, Stop, UnixTime};
//! use retry_middleware::{ThreadRandom, hint};
//!
//! fn send_patiently(
//!     policy: &Policy,
//!     mut send: impl FnMut() -> (StatusCode, HeaderMap),
//! ) -> Result<StatusCode, (StatusCode, Stop)> {
//!     let origin = Instant::now();
//!     let now = || Monotonic::ORIGIN.after(origin.elapsed());
//!     let wall = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
//!     let mut request = LogicalRequest::new(policy, Replay::Always, now());
//!     let mut last = StatusCode::SERVICE_UNAVAILABLE;
//!     loop {
//!         match request.poll(now(), None) {
//!             Step::Attempt => {}
//!             Step::Wait(until) => {
//!                 std::thread::sleep(until.since(now()));
//!                 continue;
//!             }
//!             Step::Stop(stop) => return Err((last, stop)),
//!         }
//!         request.begin(now());
//!         let (status, headers) = send();
//!         last = status;
//!         let asked = hint(&headers, policy, UnixTime::from_seconds(wall() as i64));
//!         let outcome = Outcome::answered(status.as_u16(), asked);
//!         match request.end(&outcome, now(), now(), &mut ThreadRandom) {
//!             Decision::Done => return Ok(status),
//!             Decision::Wait(wait) => println!("{wait}"),
//!             Decision::Stop(stop) => return Err((status, stop)),
//!         }
//!     }
//! }
//!
//! let quick = retry_core::profiles::RECOMMENDED.to_builder().schedule(None).floor(Duration::from_millis(10));
//! let mut answers = [429, 503, 200].into_iter();
//! let answer = send_patiently(&quick.build()?, || {
//!     let status = answers.next().expect("three are enough");
//!     (StatusCode::from_u16(status).expect("a status"), HeaderMap::new())
//! });
//! assert_eq!(answer, Ok(StatusCode::OK));
//! # Ok::<(), retry_core::PolicyError>(())
//! ```
//!
//! # What holds, and which test fails without it
//!
//! Each rule was taken out of the code once. These tests, in `tests/wire`, send real requests through both
//! faces and noticed:
//!
//! | rule | test |
//! |---|---|
//! | E2: one clock for a request, whoever sends it again | `another_retry_layer_cannot_extend_the_call` |
//! | E2: it is held until the instant that it was told | `a_request_that_comes_back_keeps_the_instant_it_was_told` |
//! | E4: a window that has passed joins nothing | `a_window_that_has_passed_does_not_spoil_the_next` |
//! | E5: a window is what the server asked, not what one request can wait | `a_fresh_request_honours_a_recorded_window` |
//! | E6: an older success clears nothing | `an_older_success_does_not_clear_a_window` |
//! | E6: a newer one does | `a_newer_success_clears_a_window` |
//! | E6: a redirect does not | `a_redirect_clears_no_window` |
//! | E7: a window holds others | `a_crowd_is_held_and_comes_back_spread`, `a_window_too_far_is_an_error_that_names_it` |
//! | E7: it is asked before every attempt | `a_window_that_opens_during_a_wait_holds_the_next_attempt` |
//! | E7: a request's own does not hold it | `a_request_is_not_held_by_what_it_recorded_itself` |
//! | E11: only 429 and 503 are recorded | `only_429_and_503_hold_others` |
//!
//! That a refusal cannot move the first instant out while that is live (E2) takes an attempt before that
//! instant, which the driver never makes; `the_first_deadline_is_kept_while_it_is_live` in retry-core shows it.

mod carriers;
mod clock;
mod driver;
mod exchange;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod fate;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod key;
mod random;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod refusals;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod refused_body;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod report;
#[cfg(feature = "reqwest")]
mod reqwest_face;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod shared_request;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod shared_windows;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tower")]
mod tower_face;

pub use carriers::{LARGEST_MARKED_BODY, MARKER_PATIENCE, hint, verdict};
pub use clock::{Clock, SystemClock};
pub use driver::{Driver, Event, Finished, Observer, Silent};
pub use exchange::{AttemptTimedOut, Attempted, Exchange, Fate};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use fate::fate_of;
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use key::{Destination, Key, KeyFunction};
pub use random::ThreadRandom;
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use refusals::{FinishBy, Unasked, Vouched};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use refused_body::{BodyGivenUp, LARGEST_DRAIN, RetryBody};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use report::Report;
#[cfg(feature = "reqwest")]
pub use reqwest_face::{RetryMiddleware, client_builder};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use shared_request::SharedRequest;
#[cfg(feature = "tower")]
pub use tower_face::{ReadOnce, ReplayBody, RetryError, RetryLayer, RetryService};
