//! TLS: one certificate, which the client knows, so that every handshake has the same size.

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use quinn_proto::rustls::crypto::{self, CryptoProvider, WebPkiSupportedAlgorithms};
use quinn_proto::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime,
};
use quinn_proto::rustls::version::TLS13;
use quinn_proto::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme,
};
use std::sync::Arc;

/// A certificate of `Ed25519`, whose signatures all have 64 bytes, and its key, which is no secret.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");
/// The name in it.
pub(crate) const NAME: &str = "aqmlab";

const FIXED: &str = "the certificate and the settings are constants";

fn provider() -> Arc<CryptoProvider> {
    Arc::new(crypto::ring::default_provider())
}

pub(crate) fn server() -> Arc<QuicServerConfig> {
    let config =
        ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).expect(FIXED);
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = config.with_no_client_auth().with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key);
    Arc::new(QuicServerConfig::try_from(config.expect(FIXED)).expect(FIXED))
}

pub(crate) fn client() -> Arc<QuicClientConfig> {
    let provider = provider();
    let verifier = Pinned(provider.signature_verification_algorithms);
    let config =
        ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).expect(FIXED);
    let config =
        config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    Arc::new(QuicClientConfig::try_from(config).expect(FIXED))
}

/// Accepts the one certificate, whatever the date, and verifies that the server has its key.
#[derive(Debug)]
struct Pinned(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == CERTIFICATE {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
