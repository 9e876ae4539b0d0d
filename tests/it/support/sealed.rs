//! What a browser and its push service make of what they get, by the rules as they stand in RFC 8291 and RFC 8292, with nothing
//! of what seals and signs it.

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes128Gcm, Key, Nonce};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::{PublicKey, SecretKey};
use serde_json::Value;
use sha2::Sha256;

/// The keys of the browser in RFC 8291, appendix A: its private and its public one, and its secret.
pub const KEY: &str = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
pub const POINT: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
pub const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

pub fn decoded(text: &str) -> Vec<u8> {
    BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// What the browser with those keys reads.
pub fn opened(body: &[u8]) -> Vec<u8> {
    let key = SecretKey::from_slice(&decoded(KEY)).unwrap();
    let (salt, rest) = body.split_at(16);
    assert_eq!(rest[..5], [0, 0, 16, 0, 65]);
    let (sender, record) = rest[5..].split_at(65);
    let point = PublicKey::from_sec1_bytes(sender).unwrap();
    let shared = p256::ecdh::diffie_hellman(key.to_nonzero_scalar(), point.as_affine());
    let secret = hmac(&decoded(AUTH), &[shared.raw_secret_bytes()]);
    let secret = hmac(&secret, &[b"WebPush: info\0", &decoded(POINT), sender, &[1]]);
    let drawn = hmac(salt, &[&secret]);
    let key = hmac(&drawn, &[b"Content-Encoding: aes128gcm\0\x01"]);
    let nonce = hmac(&drawn, &[b"Content-Encoding: nonce\0\x01"]);
    let key = Aes128Gcm::new(&Key::<Aes128Gcm>::try_from(&key[..16]).unwrap());
    let mut text = key.decrypt(&Nonce::try_from(&nonce[..12]).unwrap(), record).unwrap();
    while text.pop().unwrap() != 2 {}
    text
}

/// What a push service reads in `Authorization`: the head, the claims, and whose they are.
pub fn claimed(header: &str) -> (Value, Value, String) {
    let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    let (said, signature) = token.rsplit_once('.').unwrap();
    let key = VerifyingKey::from_sec1_bytes(&decoded(public)).unwrap();
    key.verify(said.as_bytes(), &Signature::from_slice(&decoded(signature)).unwrap()).unwrap();
    let (head, claims) = said.split_once('.').unwrap();
    let read = |part: &str| serde_json::from_slice(&decoded(part)).unwrap();
    (read(head), read(claims), public.to_owned())
}
