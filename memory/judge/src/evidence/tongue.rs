//! In which language a text is, coarsely: by script, and by the small words of
//! a language. Enough to know that ordinary words cannot be compared.

use crate::folding::is_spaceless;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A language, or a family that is compared as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Polish,
    Cyrillic,
    Chinese,
    Japanese,
    Korean,
}

/// Small words by language, folded.
const SMALL: &[(Tongue, &str)] = &[
    (
        Tongue::English,
        "the a an and or of to is are was be been have has with for on at by from that this it its not we you they he she his her their our my i if when then than but because so do does don't as there which who what should must will can only before after never always use",
    ),
    (
        Tongue::German,
        "der die das und oder zu ist sind war sein haben hat mit fur auf bei von dass dies es nicht wir du sie er ich wenn dann als aber weil so den dem des ein eine einen einem eines kein keine im am um aus nach vor nur noch nie immer bitte auch wird werden muss mussen soll uns unser mein mir mich dir sich jetzt bis uber hier schon mehr alle jeden man",
    ),
    (
        Tongue::French,
        "le la les l un une des du de d et ou est sont etait avoir a avec pour sur par que qui ce cette ces il elle nous vous ils je tu ne pas plus si quand mais parce donc se sa son ses mon ma mes notre nos votre au aux dans en jamais toujours c qu n sans faut etre",
    ),
    (
        Tongue::Spanish,
        "el la los las un una unos de del y o es son era con para por que se su sus mi mis nuestro no si cuando pero porque lo le les al en este esta estos nunca siempre hay como mas ya muy antes todavia hasta yo tu nosotros debe usted",
    ),
    (
        Tongue::Italian,
        "il lo la gli le un uno una di del della dei e o sono era con per che si suo sua mio mia nostro non se quando ma perche al alla nel nella in questo questa mai sempre come piu gia prima anche solo i io noi ci deve",
    ),
    (
        Tongue::Portuguese,
        "o a os as um uma de do da dos das e ou sao era com para por que se seu sua meu minha nosso nao quando mas porque ao na no nas nos em este esta isso nunca sempre como mais ja antes ainda ate eu nos voce deve so",
    ),
    (
        Tongue::Dutch,
        "de het een en of van te is zijn was met voor op bij door dat dit niet we wij je jij ze zij hij ik als dan maar omdat zo die der geen in aan om uit naar alleen nog nooit altijd ook wordt worden moet moeten ons onze mijn mij zich nu tot over hier al meer alle elke even",
    ),
    (
        Tongue::Polish,
        "i w na z ze do nie to jest sa sie jak ale od po za przez dla czy tylko tez juz przed zawsze nigdy prosze mnie moj nasz",
    ),
];

/// The language of a folded text; none where nothing tells it.
pub(super) fn tongue(text: &str) -> Option<Tongue> {
    let count = |is: &dyn Fn(char) -> bool| text.chars().filter(|sign| is(*sign)).count();
    let letters = count(&char::is_alphabetic);
    let hangul = count(&|sign| matches!(sign, '\u{ac00}'..='\u{d7af}' | '\u{1100}'..='\u{11ff}'));
    let kana = count(&|sign| matches!(sign, '\u{3040}'..='\u{30ff}'));
    let spaceless = count(&is_spaceless);
    // A sign of these scripts says what several letters say.
    if hangul * 4 > letters {
        return Some(Tongue::Korean);
    }
    if spaceless * 4 > letters {
        return Some(if kana * 8 > spaceless { Tongue::Japanese } else { Tongue::Chinese });
    }
    if count(&|sign| matches!(sign, '\u{400}'..='\u{52f}')) * 2 > letters {
        return Some(Tongue::Cyrillic);
    }
    by_small_words(text)
}

fn by_small_words(text: &str) -> Option<Tongue> {
    let words: Vec<&str> = text.split(|sign: char| !sign.is_alphanumeric()).collect();
    let mut counts: Vec<(usize, Tongue)> = SMALL
        .iter()
        .map(|(tongue, small)| {
            let known: Vec<&str> = small.split(' ').collect();
            (words.iter().filter(|word| known.contains(word)).count(), *tongue)
        })
        .collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [(most, tongue), (second, _), ..] if most > second => Some(*tongue),
        _ => None,
    }
}

/// Whether a folded word is one of the small words of some language.
pub(super) fn is_small(word: &str) -> bool {
    static ALL: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| SMALL.iter().flat_map(|(_, small)| small.split(' ')).collect());
    ALL.contains(word)
}

/// Whether two texts are certainly of two languages.
pub(super) fn differ(one: Option<Tongue>, other: Option<Tongue>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folding::folded;

    #[test]
    fn r15_languages_are_told_apart() {
        for (text, expected) in [
            ("the tests are slow when they run on the old machine", Tongue::English),
            ("die Lieferscheine kommen nicht aus dem Shop", Tongue::German),
            ("c'est Solène qui valide les devis avec le client", Tongue::French),
            ("el servidor de pruebas no está en la oficina", Tongue::Spanish),
            ("il build gira solo su Xcode 16, con il 15 non parte", Tongue::Italian),
            ("o servidor não aceita mais de 120 mensagens por minuto", Tongue::Portuguese),
            ("Femke is de enige met toegang tot de sleutels", Tongue::Dutch),
            ("никогда не выкатывай по пятницам", Tongue::Cyrillic),
            ("监控面板在 Grafana 上", Tongue::Chinese),
            ("翻訳ファイルは手で編集しないで、Crowdin を使う", Tongue::Japanese),
            ("금요일에는 절대 배포하지 마세요", Tongue::Korean),
        ] {
            assert_eq!(tongue(&folded(text)), Some(expected), "{text}");
        }
        assert_eq!(tongue("pnpm"), None);
    }
}
