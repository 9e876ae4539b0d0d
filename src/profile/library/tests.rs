use super::*;

#[test]
fn every_builtin_file_is_accepted() {
    Library::check_builtin().expect("the built-in profiles are well-formed");
    assert_eq!(Library::builtin().tools.len(), BUILTIN.len());
}
