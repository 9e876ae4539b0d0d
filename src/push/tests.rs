use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::*;
use crate::time::Timestamp;
use sealed::{AUTH, POINT, claimed, decoded, opened};

#[path = "../../tests/it/support/sealed.rs"]
mod sealed;

fn subscription(endpoint: &str, keys: (&str, &str)) -> Result<Subscription, PushFault> {
    let services = PushServices { own: vec!["push.example.net".to_owned(), "localhost:8443".to_owned()] };
    Subscription::new(endpoint, keys, "https://fleet.example.net".to_owned(), &services)
}

#[test]
fn the_test_opens_what_the_rfc_has_sealed() {
    // RFC 8291, appendix A.
    let body = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
    assert_eq!(opened(&decoded(body)), b"When I grow up, I want to be a watermelon");
}

#[test]
fn only_the_browser_opens_what_is_sealed_for_it() {
    let to = subscription("https://push.example.net/1", (POINT, AUTH)).unwrap();
    for text in ["", "main asks for approval: Allow ü?", &"x".repeat(LONGEST_TEXT)] {
        let body = to.sealed(text.as_bytes()).unwrap();
        assert!(body.len() <= 4096, "{}", body.len());
        assert_eq!(opened(&body), text.as_bytes());
    }
    assert_ne!(to.sealed(b"a").unwrap(), to.sealed(b"a").unwrap());
    assert_eq!(to.sealed(&[0; LONGEST_TEXT + 1]), Err(PushFault::Text));
    assert!(!format!("{to:?}").contains(AUTH));
}

#[test]
fn a_push_service_can_tell_who_sends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/push.key");
    let key = PushKey::kept(&path).unwrap();
    assert_eq!(PushKey::kept(&path).unwrap().public(), key.public(), "it is the same from then on");
    let to = subscription("https://push.example.net/1", (POINT, AUTH)).unwrap();
    let header = key.authorization(&to, Timestamp::from_millis(1_800_000_000_000)).unwrap();
    let (head, claims, public) = claimed(&header);
    assert_eq!((head, public), (json!({ "typ": "JWT", "alg": "ES256" }), key.public()));
    let sub = "https://fleet.example.net";
    assert_eq!(claims, json!({ "aud": "https://push.example.net", "exp": 1_800_043_200, "sub": sub }));
    std::fs::write(&path, "else").unwrap();
    assert!(PushKey::kept(&path).is_err(), "what is there is not replaced");
}

#[test]
fn subscriptions_lead_to_push_services_only() {
    let reach = |endpoint: &str| PushServices { own: vec!["localhost:8443".to_owned()] }.reach(endpoint);
    for known in [
        "https://fcm.googleapis.com/fcm/send/a:b",
        "https://FCM.googleapis.com:443/x",
        "https://web.push.apple.com/Q",
        "https://wns2-am3p.notify.windows.com/w/?token=x",
        "https://updates.push.services.mozilla.com/wpush/v2/x",
    ] {
        assert_eq!(reach(known), Ok(Reach::Outside), "{known}");
    }
    assert_eq!(reach("https://localhost:8443/x"), Ok(Reach::Anywhere));
    for (other, name) in [
        ("https://evil.example/x", "evil.example"),
        ("https://10.0.0.1/x", "10.0.0.1"),
        ("https://[::1]/x", "[::1]"),
        ("https://localhost/x", "localhost"),
        ("https://fcm.googleapis.com:8443/x", "fcm.googleapis.com:8443"),
        ("https://fcm.googleapis.com.evil.example/", "fcm.googleapis.com.evil.example"),
        ("https://evilpush.apple.com/", "evilpush.apple.com"),
        ("https://.push.apple.com/", ".push.apple.com"),
        ("https://push.apple.com/", "push.apple.com"),
    ] {
        assert_eq!(reach(other), Err(PushFault::Service(name.to_owned())), "{other}");
    }
    let long = format!("https://fcm.googleapis.com/{}", "x".repeat(LONGEST_ADDRESS));
    for bad in ["", "/x", "http://fcm.googleapis.com/", "https://a@fcm.googleapis.com/", "file:///etc", &long] {
        assert_eq!(reach(bad), Err(PushFault::Address), "{bad}");
    }
    let good = "https://fcm.googleapis.com/x";
    let off_curve = BASE64_URL_SAFE_NO_PAD.encode([4; 65]);
    for keys in [("", ""), (POINT, ""), (AUTH, POINT), (POINT, "!"), (&off_curve, AUTH)] {
        assert_eq!(subscription(good, keys), Err(PushFault::Keys), "{keys:?}");
    }
}
