//! A certificate authority of the test's own, a server's certificate and a client's.

use std::fs;
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};

/// Files with certificates and keys, gone with this value.
pub struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    /// A server's certificate for `name`, and a client's, both signed by an authority of their own.
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut params = CertificateParams::new(Vec::new()).expect("it has no names");
        params.distinguished_name = called("an authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        let ca = params
            .self_signed(&key)
            .expect("the authority signs itself");
        let certificates = Self { folder };
        certificates.write("ca.pem", &ca.pem());
        let issuer = Issuer::new(params, key);
        for (file, name) in [("server", name), ("client", "lockstorm")] {
            let key = KeyPair::generate().expect("a key can be made");
            let mut params = CertificateParams::new(vec![name.to_owned()]).expect("it is a name");
            // Who is called like the authority would seem to have signed itself.
            params.distinguished_name = called(name);
            let signed = params
                .signed_by(&key, &issuer)
                .expect("the authority signs");
            certificates.write(&format!("{file}.pem"), &signed.pem());
            certificates.write(&format!("{file}.key"), &key.serialize_pem());
        }
        certificates
    }

    /// Where a file is.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).expect("certificates can be written");
    }
}

fn called(name: &str) -> DistinguishedName {
    let mut whole = DistinguishedName::new();
    whole.push(DnType::CommonName, name);
    whole
}
