//! quinn as a program, with the settings of `kind = "quic"`: a server that sends without end, and a client that downloads,
//! prints the bytes from one time in seconds to another, and ends.
//!
//! ```sh
//! quinn server 0.0.0.0:4433 cubic
//! quinn client 127.0.0.1:4433 2 10
//! ```

#[path = "../src/quinn/tls.rs"]
mod tls;

use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use std::{env, process};
use tokio::time::{Instant, timeout_at};

type Outcome = Result<(), Box<dyn Error>>;

/// The payload of a packet of 1500 B.
const PAYLOAD: u16 = 1472;

fn transport(control: &str) -> Result<Arc<TransportConfig>, String> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => return Err(format!("{control}: must be cubic, newreno or bbr")),
    };
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(factory)
        .initial_mtu(PAYLOAD)
        .mtu_discovery_config(None)
        .max_idle_timeout(None);
    Ok(Arc::new(config))
}

fn endpoint(local: SocketAddr, server: Option<ServerConfig>) -> Result<Endpoint, Box<dyn Error>> {
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(PAYLOAD)?;
    Ok(Endpoint::new(config, server, UdpSocket::bind(local)?, Arc::new(TokioRuntime))?)
}

async fn serve(local: SocketAddr, control: &str) -> Outcome {
    let mut config = ServerConfig::with_crypto(tls::server());
    config.transport_config(transport(control)?);
    let endpoint = endpoint(local, Some(config))?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await?;
            let (mut stream, _) = connection.accept_bi().await?;
            let zeros = vec![0; 1 << 16];
            loop {
                stream.write_all(&zeros).await?;
            }
            #[allow(unreachable_code)]
            Ok::<_, Box<dyn Error + Send + Sync>>(())
        });
    }
    Ok(())
}

async fn download(remote: SocketAddr, from: f64, until: f64) -> Outcome {
    let begin = Instant::now();
    let [from, until] = [from, until].map(|at| begin + Duration::from_secs_f64(at));
    let endpoint = endpoint((Ipv4Addr::UNSPECIFIED, 0).into(), None)?;
    let mut config = ClientConfig::new(tls::client());
    config.transport_config(transport("cubic")?);
    let connection = endpoint.connect_with(config, remote, tls::NAME)?.await?;
    let (mut request, mut stream) = connection.open_bi().await?;
    request.write_all(b"GET /").await?;
    request.finish()?;
    let mut received = 0;
    let all = async {
        while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
            if Instant::now() >= from {
                received += chunk.bytes.len();
            }
        }
        Ok::<_, Box<dyn Error>>(())
    };
    // The time-out is the usual end.
    timeout_at(until, all).await.unwrap_or(Ok(()))?;
    println!("{received} bytes");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = async {
        match arguments[..] {
            ["server", local, control] => serve(local.parse()?, control).await,
            ["client", remote, from, until] => download(remote.parse()?, from.parse()?, until.parse()?).await,
            _ => {
                Err("usage: quinn server ADDRESS:PORT CONTROL | quinn client ADDRESS:PORT FROM UNTIL".into())
            }
        }
    };
    if let Err(problem) = outcome.await {
        eprintln!("{problem}");
        process::exit(1);
    }
}
