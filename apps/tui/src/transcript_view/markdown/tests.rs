use super::*;
use proptest::prelude::*;

fn page(width: u16) -> Page {
    Page { width, theme: Theme::new(false) }
}

fn whole(text: &str, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    Markdown::new(text, Flow::Ended).lay(&mut lines, page(width));
    lines
}

fn shown(text: &str, width: u16) -> String {
    let lines = whole(text, width);
    let lines = lines.iter().map(|line| line.to_string().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Lays a text out after each piece, as a stream does.
fn streamed(text: &str, cuts: &[usize], width: u16) -> Vec<Line<'static>> {
    let mut markdown = Markdown::new("", Flow::Open);
    let mut lines = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().map(|cut| text.floor_char_boundary(*cut)).chain([text.len()]) {
        if cut > from {
            markdown.push(text.get(from..cut).expect("cuts are between letters"));
            markdown.lay(&mut lines, page(width));
            from = cut;
        }
    }
    markdown.end();
    markdown.lay(&mut lines, page(width));
    lines
}

const ALL: &str = "\
# A title

Some *emphasised*, **strong** and ~~void~~ text with `code`, a [link](http://a.example) and <http://b.example>.

- one
- two with words that are long enough to be broken
  - nested
    1. deeper
    2. and deeper
- [x] done
- [ ] not done

> A quote
> of two lines
>
> - with a list

| name | what it is | n |
|:-----|:----------:|--:|
| a | the first of them | 1 |
| b | second | 22 |

```rust
fn main() {
    println!(\"hi\");
}
```

***

3. three
4. four

   a paragraph in it

Setext
------
last line  
hard break";

#[test]
fn q9_markdown_is_shown_in_its_shape() {
    insta::assert_snapshot!(shown(ALL, 60));
}

#[test]
fn q9_markdown_fits_a_narrow_screen() {
    insta::assert_snapshot!(shown(ALL, 24));
}

#[test]
fn q9_a_fence_that_is_not_closed_is_code() {
    assert_eq!(shown("a\n\n```sh\nls *x* _y_", 40), "a\n\n  ls *x* _y_");
    assert_eq!(shown("~~~\n```\n~~~\nb", 40), "  ```\n\nb");
    let mut markdown = Markdown::new("```rust\nlet a = **", Flow::Open);
    let mut lines = Vec::new();
    markdown.lay(&mut lines, page(40));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].to_string(), "  let a = **");
    // What may become the closing fence is not shown as code.
    markdown.push("\n``");
    markdown.lay(&mut lines, page(40));
    assert_eq!(lines.len(), 1);
}

#[test]
fn q9_marks_do_not_come_and_go_while_text_arrives() {
    let mut markdown = Markdown::new("", Flow::Open);
    let mut lines = Vec::new();
    for piece in ["some ", "**", "bold", "** and `", "code", "`\n", "-", " item"] {
        markdown.push(piece);
        markdown.lay(&mut lines, page(40));
        let text = lines.iter().map(ToString::to_string).collect::<String>();
        assert!(!text.contains('*') && !text.ends_with('-'), "{text:?}");
    }
}

#[test]
fn q9_only_what_is_not_settled_is_laid_out_again() {
    let mut markdown = Markdown::new("", Flow::Open);
    let mut lines = Vec::new();
    for at in 0..50 {
        markdown.push(&format!("paragraph {at}\n\n"));
        markdown.lay(&mut lines, page(40));
        assert!(markdown.text.len() - markdown.settled < 30, "the last paragraph may still grow");
    }
    markdown.push("```\n");
    for at in 0..50 {
        markdown.push(&format!("code {at}\n"));
        markdown.lay(&mut lines, page(40));
        assert_eq!(markdown.settled, markdown.text.len());
    }
}

#[test]
fn q9_code_can_be_taken_out() {
    let text = Markdown::new("a\n```\nx\n```\nb\n- c\n  ```\n  y\n  ```\n", Flow::Ended);
    assert_eq!(text.code().as_deref(), Some("x\ny\n"));
    assert_eq!(Markdown::new("a", Flow::Ended).code(), None);
}

#[test]
fn s6_markdown_does_not_steer_the_terminal() {
    for line in whole("a\u{1b}]52;c;eA==\u{7}b\n\n```\n\u{1b}[2J\n```\n\n`\u{9b}x`", 40) {
        assert!(!line.to_string().chars().any(char::is_control), "{line:?}");
    }
}

/// Text that is likely to mean something to a reader of Markdown.
fn markdown_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\n",
            "\n\n",
            " ",
            "    ",
            "- ",
            "* ",
            "1. ",
            "> ",
            "# ",
            "```\n",
            "```rust\n",
            "~~~\n",
            "`",
            "**",
            "*",
            "_",
            "~~",
            "|",
            "\n|---|---|\n",
            "| a | b |\n",
            "---\n",
            "===\n",
            "[a]",
            "(http://x)",
            "[a]: http://y\n",
            "<div>\n",
            "<!--",
            "-->",
            "\\",
            "[ ] ",
            "[x] ",
            "\t",
            "日本",
            "e\u{301}",
            "👩‍👩‍👧",
            "\r\n",
            "&amp;",
            "<http://z>",
            "!",
            "  \n",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,12}",
        ".{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn q9_streaming_in_any_pieces_ends_with_the_lines_of_the_whole(
        text in markdown_text(),
        mut cuts in prop::collection::vec(0usize..400, 0..12),
        width in 1u16..120,
    ) {
        cuts.sort_unstable();
        prop_assert_eq!(streamed(&text, &cuts, width), whole(&text, width), "{:?}", text);
    }

    #[test]
    fn q9_no_line_of_markdown_is_wider_than_the_screen(
        text in markdown_text(),
        width in 1u16..200,
    ) {
        for line in whole(&text, width) {
            prop_assert!(line.width() <= usize::from(width), "{line:?} of {text:?}");
        }
    }

    #[test]
    fn q9_any_bytes_can_be_shown(bytes in prop::collection::vec(any::<u8>(), 0..300), width in 1u16..200) {
        let text = String::from_utf8_lossy(&bytes);
        for line in whole(&text, width) {
            prop_assert!(line.width() <= usize::from(width), "{line:?}");
        }
    }
}
