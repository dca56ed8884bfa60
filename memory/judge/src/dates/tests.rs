use super::lexicon::LEXICON;

#[test]
fn l5_34_every_line_of_every_table_is_read() {
    assert_eq!(LEXICON.faults, Vec::<&str>::new());
}
