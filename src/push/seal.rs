//! Encryption and signatures.

use std::io::{self, ErrorKind};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PushFault, PushServices, address};
use crate::private;
use crate::time::{Span, Timestamp};

/// Bytes of a browser's public key and of its secret.
const POINT: usize = 65;
const SECRET: usize = 16;
/// What a sealed text begins with: a salt, the length of a record, and the sender's public key with its length.
const SALT: usize = 16;
const RECORD: u32 = 4096;
/// The longest text that every push service takes: one record without the head, the tag and the mark of its end.
pub const LONGEST_TEXT: usize = 3900;
/// How long a push service may believe a signature; a day at most is allowed.
const SIGNED_FOR: Span = Span::from_secs(12 * 3600);

/// Where a browser gets notices: what it said itself when somebody asked for them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Whoever knows it may post there.
    pub endpoint: String,
    /// Its public key and its secret, in Base64 for URLs.
    p256dh: String,
    auth: String,
    /// Whom its push service can ask about what comes: the page.
    contact: String,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("contact", &self.contact).finish_non_exhaustive()
    }
}

impl Subscription {
    /// One that the known services can reach.
    ///
    /// # Errors
    /// It cannot: its address leads elsewhere, or its keys are none.
    pub fn new(
        endpoint: &str,
        (p256dh, auth): (&str, &str),
        contact: String,
        services: &PushServices,
    ) -> Result<Self, PushFault> {
        services.reach(endpoint)?;
        let (p256dh, auth) = (p256dh.trim_end_matches('=').to_owned(), auth.trim_end_matches('=').to_owned());
        let made = Self { endpoint: endpoint.to_owned(), p256dh, auth, contact };
        made.sealed(b"").map(|_| made)
    }

    /// A text that only this browser can read: the body of a POST in `aes128gcm`.
    ///
    /// # Errors
    /// The keys are none, or the text is too long.
    pub fn sealed(&self, text: &[u8]) -> Result<Vec<u8>, PushFault> {
        let decoded = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| PushFault::Keys);
        let (theirs, secret) = (decoded(&self.p256dh)?, decoded(&self.auth)?);
        if theirs.len() != POINT || secret.len() != SECRET {
            return Err(PushFault::Keys);
        }
        if text.len() > LONGEST_TEXT {
            return Err(PushFault::Text);
        }
        let random = SystemRandom::new();
        let no_luck = |_| PushFault::Random;
        let mut salt = [0; SALT];
        random.fill(&mut salt).map_err(no_luck)?;
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(no_luck)?;
        let ours = own.compute_public_key().map_err(no_luck)?;
        let point = UnparsedPublicKey::new(&ECDH_P256, &theirs);
        // Both keys go into the secret, so that it is of these two and of nobody else (RFC 8291 §3.4).
        let info: [&[u8]; 3] = [b"WebPush: info\0", &theirs, ours.as_ref()];
        let shared = agree_ephemeral(own, &point, |shared| drawn::<32>(&secret, shared, &info));
        let shared = shared.map_err(|_| PushFault::Keys)??;
        let key = drawn::<16>(&salt, &shared, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce = drawn::<12>(&salt, &shared, &[b"Content-Encoding: nonce\0"])?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).map_err(|_| PushFault::Keys)?);
        // One record, which is the last one (RFC 8188 §2).
        let mut record = [text, b"\x02"].concat();
        let nonce = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).map_err(|_| PushFault::Text)?;
        Ok([&salt[..], &RECORD.to_be_bytes(), &[POINT as u8], ours.as_ref(), &record].concat())
    }
}

/// So many bytes of HKDF with SHA-256.
fn drawn<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Result<[u8; N], PushFault> {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut bytes = [0; N];
    let drawn = Salt::new(HKDF_SHA256, salt).extract(secret);
    let filled = drawn.expand(info, Length(N)).and_then(|it| it.fill(&mut bytes));
    filled.map(|()| bytes).map_err(|_| PushFault::Keys)
}

/// What a push service knows this user's fleetwatch by: subscriptions are made for it and for nobody else.
pub struct PushKey(EcdsaKeyPair);

impl std::fmt::Debug for PushKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PushKey").field(&self.public()).finish()
    }
}

impl PushKey {
    /// The key in a file, which is made where there is none.
    ///
    /// # Errors
    /// The file cannot be read or written, others can read it, or it is no key.
    pub fn kept(path: &Path) -> io::Result<Self> {
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let bytes = match private::read_secret(path) {
            Err(error) if is_missing(&error) => {
                private::make_directory(path.parent().unwrap_or(Path::new(".")))?;
                let _alone = private::locked(&path.with_extension("lock"))?;
                // Another process may have made it by now.
                match private::read_secret(path) {
                    Err(error) if is_missing(&error) => made(path)?,
                    read => read?,
                }
            }
            read => read?,
        };
        let broken = |_| io::Error::new(ErrorKind::InvalidData, format!("{} is no key", path.display()));
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &bytes, &SystemRandom::new())
            .map(Self)
            .map_err(broken)
    }

    /// Its public half, in Base64 for URLs.
    pub fn public(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.public_key())
    }

    /// The header `Authorization` for what goes to a subscription now.
    ///
    /// # Errors
    /// Its address is none, or there is no randomness.
    pub fn authorization(&self, to: &Subscription, now: Timestamp) -> Result<String, PushFault> {
        let (address, name) = address(&to.endpoint)?;
        let scheme = address.scheme_str().unwrap_or_default();
        let claims = json!({
            "aud": format!("{scheme}://{name}"),
            "exp": (now + SIGNED_FOR).as_millis() / 1000,
            "sub": to.contact,
        });
        let encoded = |part: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let said = format!("{}.{}", encoded(&json!({ "typ": "JWT", "alg": "ES256" })), encoded(&claims));
        let signed = self.0.sign(&SystemRandom::new(), said.as_bytes()).map_err(|_| PushFault::Random)?;
        Ok(format!("vapid t={said}.{}, k={}", BASE64_URL_SAFE_NO_PAD.encode(signed), self.public()))
    }
}

/// A new key in a file.
fn made(path: &Path) -> io::Result<Vec<u8>> {
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let key = key.map_err(|_| io::Error::other("no key can be made"))?;
    private::replace(path, key.as_ref())?;
    Ok(key.as_ref().to_vec())
}
