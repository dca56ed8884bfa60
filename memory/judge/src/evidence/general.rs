//! Words that prove nothing, and words that deny. Folded.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Stems of words that every memory has, which prove nothing.
pub(super) static GENERIC: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "alway appli applic ask assist avoid case choos claud convers even everi everywher explicit \
    explicitli expect fact follow futur general guidanc import inferred instead keep know known \
    later like mean memori mention mind must name need never note person pleas prefer project purpos \
    reason refer relev rememb remember repo repositori request rule said say session standard state \
    stated still task tell thing time told unless use user usual want whenev wherev wish without \
    work convent decid decis current instruct context background detail long ever merk bitte toujour \
    siempr recuerda acuerd ricordati onthoud lembra"
    .split(' ').collect()
});

/// Words that deny, folded.
pub(super) static DENIALS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "not no never none nothing nobody neither nor without don dont doesn doesnt won wont isn isnt \
    aren arent cannot cant can't shouldn shouldnt mustn stop stopped avoid avoids instead rather \
    dropped forbidden banned refuse refuses longer except off dislikes hates nicht nie niemals kein \
    keine keinen keiner ohne statt pas jamais aucun aucune sans rien ne nunca jamas sin ningun \
    ninguna non mai senza nao sem niet nooit geen zonder не ни никогда нельзя без нет bez old left \
    ends replaced replaces removed ended prohibited disallowed exclude"
    .split(' ').collect()
});
/// Words that deny something without saying so: "only", "even if".
pub(super) static LIMITS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "only even unless until prefer prefers over drop skip lose fail fails hid nur erst seulement solo \
    solamente apenas alleen только hate enough broken breaks wrong outdated just too out burnt \
    revert"
    .split(' ').collect()
});
/// Signs of a denial in scripts without spaces, and in Korean.
pub(super) const WIDE_DENIALS: &[&str] =
    &["不", "别", "没", "勿", "禁", "ない", "ません", "せず", "禁止", "지 마", "않", "없", "말"];

/// Words after which a negation no longer holds.
pub(super) static TURNS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| "but sondern aber mais pero sino ma mas maar но use".split(' ').collect());
