//! What `sslmode` and `sslrootcert` in the URL of a database ask for.
//!
//! The words mean what they mean to PostgreSQL's own programs: `prefer` and `require` encrypt, and
//! only `verify-ca` and `verify-full` make sure who answers.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::Verifier;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How to connect to the database of a URL, or why that is not to be told from it.
pub fn read(url: &str) -> Result<(Config, MakeRustlsConnect), String> {
    let asked = Asked::of(url)?;
    let mut config: Config = asked.url.parse().map_err(|error| crate::reason(&error))?;
    if let Some(mode) = asked.mode {
        config.ssl_mode(mode);
    }
    // The first one counts for the whole process; a host program may have chosen another.
    drop(rustls::crypto::ring::default_provider().install_default());
    let provider = CryptoProvider::get_default().ok_or("there is no provider of cryptography")?;
    let tls = ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(asked.verifier(provider)?)
        .with_no_client_auth();
    Ok((config, MakeRustlsConnect::new(tls)))
}

/// What a URL asks for, and the rest of it.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    url: String,
    /// Whether there is TLS, if the URL says so.
    mode: Option<SslMode>,
    trust: Trust,
    /// The file with the certificates of those who are trusted; the system's, if there is none.
    roots: Option<String>,
}

/// Who may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Anybody,
    /// Whoever has a certificate of those who are trusted.
    Certified,
    /// Whoever has one for the name that was asked for.
    Named,
}

impl Asked {
    fn of(url: &str) -> Result<Self, String> {
        let mut asked =
            Self { url: url.to_owned(), mode: None, trust: Trust::Anybody, roots: None };
        let Some((place, query)) = url.split_once('?') else { return Ok(asked) };
        let mut others = Vec::new();
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("sslmode", word)) => {
                    let (mode, trust) = match word {
                        "disable" => (SslMode::Disable, Trust::Anybody),
                        "allow" | "prefer" => (SslMode::Prefer, Trust::Anybody),
                        "require" => (SslMode::Require, Trust::Anybody),
                        "verify-ca" => (SslMode::Require, Trust::Certified),
                        "verify-full" => (SslMode::Require, Trust::Named),
                        _ => {
                            return Err(
                                "`sslmode` is `disable`, `prefer`, `require`, `verify-ca` \
                                        or `verify-full`"
                                    .to_owned(),
                            );
                        }
                    };
                    (asked.mode, asked.trust) = (Some(mode), trust);
                }
                Some(("sslrootcert", "system")) => {}
                Some(("sslrootcert", path)) => {
                    asked.roots = Some(percent_decode_str(path).decode_utf8_lossy().into_owned());
                }
                _ => others.push(pair),
            }
        }
        // Whoever names certificates wants them to be looked at.
        if asked.roots.is_some() && asked.mode == Some(SslMode::Require) {
            asked.trust = match asked.trust {
                Trust::Anybody => Trust::Certified,
                other => other,
            };
        }
        let separator = if others.is_empty() { "" } else { "?" };
        asked.url = format!("{place}{separator}{}", others.join("&"));
        Ok(asked)
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, String> {
        let certified = match (&self.roots, self.trust) {
            (_, Trust::Anybody) => return Ok(Arc::new(Lenient::new(None, provider))),
            (Some(path), _) => by_file(path, provider)?,
            // The system's own check looks at the name as well.
            (None, _) => {
                let system = Verifier::new(Arc::clone(provider));
                return Ok(Arc::new(system.map_err(|error| error.to_string())?));
            }
        };
        Ok(match self.trust {
            Trust::Certified => Arc::new(Lenient::new(Some(certified), provider)),
            _ => certified,
        })
    }
}

/// Trusts those whose certificates are in a file.
fn by_file(
    path: &str,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let unusable = |why: String| format!("`sslrootcert` {path} cannot be used: {why}");
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| unusable(error.to_string()))
}

/// Looks at certificates, but not at the name in them; or not even at certificates, where nobody
/// asked for that. What was agreed on is always signed by whoever answered.
#[derive(Debug)]
struct Lenient {
    certified: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Lenient {
    fn new(certified: Option<Arc<WebPkiServerVerifier>>, provider: &Arc<CryptoProvider>) -> Self {
        Self { certified, provider: Arc::clone(provider) }
    }
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(certified) = &self.certified else { return Ok(ServerCertVerified::assertion()) };
        // The name is what is looked at last.
        match certified.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        ) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_asks_for_is_told_from_the_rest() {
        let asked = |query: &str| {
            let asked = Asked::of(&format!("postgres://u@h/d{query}")).unwrap();
            (asked.url.replace("postgres://u@h/d", ""), asked.mode, asked.trust, asked.roots)
        };
        let rest = "?application_name=x&connect_timeout=3";
        assert_eq!(asked(rest), (rest.to_owned(), None, Trust::Anybody, None));
        assert_eq!(
            asked("?application_name=x&sslmode=verify-full&connect_timeout=3"),
            (rest.to_owned(), Some(SslMode::Require), Trust::Named, None)
        );
        assert_eq!(
            asked("?sslmode=require&sslrootcert=%2Fetc%2Fca.pem"),
            (String::new(), Some(SslMode::Require), Trust::Certified, Some("/etc/ca.pem".into()))
        );
        assert_eq!(
            asked("?sslmode=disable"),
            (String::new(), Some(SslMode::Disable), Trust::Anybody, None)
        );
        assert!(Asked::of("postgres://h/d?sslmode=verify").unwrap_err().contains("verify-ca"));
    }
}
