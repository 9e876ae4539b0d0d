use super::*;

fn some() -> BTreeMap<String, Vec<u8>> {
    let recording =
        |text: &str| format!("{{\"version\": 2, \"width\": 9, \"height\": 2}}\n[0, \"o\", \"{text}\"]\n").into_bytes();
    BTreeMap::from([
        ("b-1.0/idle".to_owned(), recording("two")),
        ("a-1.0/idle".to_owned(), recording("one")),
        ("c".to_owned(), Vec::new()),
    ])
}

#[test]
fn what_is_packed_comes_out_again() {
    let packed = Archive::pack(&some()).unwrap();
    assert_eq!(packed, Archive::pack(&some()).unwrap(), "packing is reproducible");
    let archive = Archive::parse("x.zst", &packed).unwrap();
    assert_eq!(archive.names().collect::<Vec<_>>(), ["a-1.0/idle", "b-1.0/idle", "c"]);
    for (name, bytes) in some() {
        assert_eq!(archive.bytes(&name), Some(&bytes[..]), "{name}");
    }
    assert_eq!(archive.recording("a-1.0/idle").unwrap().name, "idle");
    assert_eq!(archive.recording("d").unwrap_err().to_string(), "x.zst:d: the archive has no such recording");
    assert!(archive.recording("c").unwrap_err().to_string().starts_with("x.zst:c:1: the header is missing"));
}

#[test]
fn names_that_lead_out_of_a_directory_are_refused() {
    for name in ["", "../a", "a/../b", "/a", "a//b", ".hidden", "a b", "a\n", "ä"] {
        assert!(Archive::pack(&BTreeMap::from([(name.to_owned(), Vec::new())])).is_err(), "{name:?}");
        let mut inside = MAGIC.to_vec();
        inside.extend_from_slice(format!("{name} 0\n").as_bytes());
        let packed = zstd::encode_all(&inside[..], 1).unwrap();
        assert!(Archive::parse("x", &packed).is_err(), "{name:?}");
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    let packed = Archive::pack(&some()).unwrap();
    assert!(Archive::parse("x", b"").is_err());
    assert!(Archive::parse("x", b"not compressed").is_err());
    assert!(Archive::parse("x", &packed[..packed.len() - 5]).is_err(), "cut off");
    for inside in [
        "nothing",
        "fleetwatch recordings 1\na 5\n1234",
        "fleetwatch recordings 1\na\n",
        "fleetwatch recordings 1\na -1\n",
    ] {
        assert!(Archive::parse("x", &zstd::encode_all(inside.as_bytes(), 1).unwrap()).is_err(), "{inside}");
    }
}
