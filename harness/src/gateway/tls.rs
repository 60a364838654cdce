//! TLS to servers that someone else runs. The name of a server is always compared with its
//! certificate.

use std::path::Path;
use std::sync::Arc;

use lockstorm_scenarios::{Lookup, Tls, with_variables};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Returns a maker of TLS connections; the error says in words which file is wrong.
pub fn connector(tls: &Tls, variable: Lookup<'_>) -> Result<TlsConnector, String> {
    let path = |text: &Option<String>| {
        let text = text.as_deref();
        let path = text.map(|text| with_variables(text, variable));
        path.transpose().map_err(|error| format!("tls: {error}"))
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots(path(&tls.ca)?.as_deref())?);
    let config = match (path(&tls.cert)?, path(&tls.key)?) {
        (Some(cert), Some(key)) => {
            let chain = certificates(&cert)?;
            let secret = PrivateKeyDer::from_pem_file(&key)
                .map_err(|error| format!("tls.key: no key can be read from '{key}': {error}"))?;
            builder
                .with_client_auth_cert(chain, secret)
                .map_err(|error| format!("tls.cert and tls.key do not fit: {error}"))?
        }
        (_, _) => builder.with_no_client_auth(),
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns the certificates that are trusted: those in the file, or those that the system trusts.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        for certificate in certificates(file)? {
            roots
                .add(certificate)
                .map_err(|error| format!("tls.ca: '{file}' has a wrong certificate: {error}"))?;
        }
        return Ok(roots);
    }
    // One that cannot be read is one less to trust.
    let (added, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        let text = "this system trusts nobody; name the file of your CA with tls.ca, or install \
                    the package ca-certificates";
        return Err(text.to_owned());
    }
    Ok(roots)
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |why: String| format!("tls: no certificate can be read from '{file}': {why}");
    let found = CertificateDer::pem_file_iter(Path::new(file))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        return Err(wrong("there is none in it".to_owned()));
    }
    Ok(found)
}
