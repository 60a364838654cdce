//! Servers that speak TLS only to those who know them, and whom they know.

use crate::external::certificates::Certificates;
use crate::external::server::{PASSWORD, Server, Settings, speaks_tls};
use crate::external::test_bed::{Run, run};
use crate::support::have_server;

const ENVIRONMENT: i32 = 69;

/// A run on the server at `host`, with these options of TLS.
fn run_on(server: &Server, host: &str, tls: &str) -> Run {
    run(&format!(
        "name = \"tls\"\nexpect = {{ fairness = \"any\" }}\n\
         topology.external = {{ urls = [\"{}\"], prefix = \"team:\", tls = {{ {tls} }} }}\n\
         lock.redisson = {{ lease = \"30s\" }}\n\
         [[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
         [[step]]\nacquire = {{ client = \"b\", expect = \"refused\" }}\n\
         [[step]]\nkill-connections = {{ node = \"primary\", client = \"a\" }}\n\
         [[step]]\nrenew = {{ client = \"a\" }}\n\
         [[step]]\nrelease = {{ client = \"a\", expect = \"released\" }}\n",
        server.tls_url(host)
    ))
}

#[tokio::test]
async fn a_run_over_tls_knows_the_server_by_its_authority_and_its_name() {
    if !have_server() || !speaks_tls() {
        return;
    }
    let certificates = Certificates::new("localhost");
    let file = |name: &str| certificates.path(name).display().to_string();
    let tls = |lines: &'static str| Settings {
        tls: Some(&certificates),
        lines,
        ..Settings::default()
    };
    let ca = format!("ca = \"{}\"", file("ca.pem"));
    let open = Server::start(tls("tls-auth-clients no")).await;
    run_on(&open, "localhost", &ca)
        .as_expected()
        .nowhere(PASSWORD);
    assert_eq!(open.keys().await, Vec::<String>::new());
    // Another host than its certificate names, unless that is said to be right.
    let said = run_on(&open, "127.0.0.1", &ca).refused(ENVIRONMENT);
    assert!(
        said.contains("TLS fails") && said.contains("tls.server-name"),
        "{said}"
    );
    let named = format!("{ca}, server-name = \"localhost\"");
    run_on(&open, "127.0.0.1", &named).as_expected();
    // An authority that nobody has named.
    let strangers = Certificates::new("localhost");
    let other = format!("ca = \"{}\"", strangers.path("ca.pem").display());
    let said = run_on(&open, "localhost", &other).refused(ENVIRONMENT);
    assert!(
        said.contains("TLS fails") && said.contains("tls.ca"),
        "{said}"
    );
    // A server that wants to know its clients as well.
    let closed = Server::start(tls("tls-auth-clients yes")).await;
    let said = run_on(&closed, "localhost", &ca).refused(ENVIRONMENT);
    assert!(said.contains("tls.cert"), "{said}");
    let own = format!(
        "{ca}, cert = \"{}\", key = \"{}\"",
        file("client.pem"),
        file("client.key")
    );
    run_on(&closed, "localhost", &own).as_expected();
    let said = run_on(&closed, "localhost", "ca = \"/nowhere.pem\"").refused(ENVIRONMENT);
    assert!(
        said.contains("no certificate can be read from '/nowhere.pem'"),
        "{said}"
    );
}
