//! The words by which a sentence says that something changed, came to an end,
//! or comes on top; and the chatter around it.

use super::lexicon;
use crate::pattern::Pattern;
use crate::phrase::fold;
use std::ops::Range;
use std::sync::LazyLock;

/// How a statement stands to what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// It does not say.
    None,
    /// "Now": something may be different.
    Weak,
    /// "Moved to": something is different.
    Strong,
}

/// How something came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// "Not on Thursdays anymore", "instead of Heroku".
    Over,
    /// "I no longer care about it": whichever way it was.
    Withdrawn,
    /// "Petra left": of all that she did, what is named beside it.
    Left,
}

/// Whether it comes on top of what was.
pub(super) fn adds(text: &str) -> bool {
    let low = fold(text);
    ADDS.is_in(&low) || (ALSO.is_in(&low) && !lexicon::is_german(text))
}

/// Whether "also" merely opens the sentence.
pub(super) fn adds_by_opening(text: &str) -> bool {
    OPENING.is_in(&fold(text))
}

/// How much it says that something changed.
pub(super) fn change(text: &str) -> Change {
    let low = fold(text);
    if STRONG.is_in(&low) {
        Change::Strong
    } else if WEAK.is_in(&low) {
        Change::Weak
    } else {
        Change::None
    }
}

/// Whether a clause says that something came to an end.
pub(super) fn end(clause: &str) -> Option<End> {
    let low = fold(clause);
    if NOT_ONLY.is_in(&low) {
        None
    } else if LONGER.is_in(&low) {
        Some(if CARES.is_in(&low) { End::Withdrawn } else { End::Over })
    } else if LEFT.is_in(&low) {
        Some(End::Left)
    } else if DROPPED.is_in(&low) || CORRECTED.is_in(&low) {
        Some(End::Over)
    } else {
        None
    }
}

/// What a clause says was before: "instead of Heroku".
pub(super) fn displaced(clause: &str) -> Option<Displaced> {
    let all = [
        (&INSTEAD, ""),
        (&REPLACED, "now use "),
        (&REPLACED_BY, ""),
        (&REPLACES, ""),
        (&FROM, ""),
        (&BEFORE_SIGNS, ""),
    ];
    let low = fold(clause);
    all.into_iter().find_map(|(pattern, instead)| {
        let found = pattern.find(&low)?;
        let (whole, old) = (found.name("all")?, found.name("old")?);
        Some(Displaced { whole: whole.range(), old: old.range(), instead })
    })
}

/// Where a clause names what was before.
pub(super) struct Displaced {
    /// With the words that say so.
    pub(super) whole: Range<usize>,
    pub(super) old: Range<usize>,
    /// What is said in its place.
    pub(super) instead: &'static str,
}

/// Whether a clause gives a reason.
pub(super) fn is_reason(clause: &str) -> bool {
    REASON.is_in(&fold(clause))
}

/// A sentence without the words that only open, soften or close it.
pub(super) fn without_chatter(text: &str) -> String {
    let mut text = text.trim().to_owned();
    for pattern in [&CHATTER_INSIDE, &CHATTER_BEFORE, &CHATTER_BEHIND] {
        // What is taken away may lay open more of the same.
        for _ in 0..3 {
            let low = fold(&text);
            let Some(found) = pattern.find(&low) else { break };
            let (Some(all), Some(keep)) = (found.get(0), found.name("keep")) else { break };
            let left = [text.get(..all.start()), text.get(keep.range()), text.get(all.end()..)];
            let shorter = left.into_iter().flatten().collect::<String>().trim().to_owned();
            if shorter == text {
                break;
            }
            text = shorter;
        }
    }
    text
}

/// A pattern for folded text.
fn pattern(text: &str) -> Pattern {
    Pattern::new(&format!("(?x){text}"))
}

static ALSO: LazyLock<Pattern> = LazyLock::new(|| pattern(r"\balso\b"));
static OPENING: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:(?:and|oh|ah|so|ok)\W+)*(?:also|außerdem|además|aussi|anche|também|ook|另外|还有|あと|그리고)\b",
    )
});
static ADDS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:as\ well|besides|in\ addition|additionally|not\ (?:just|only)|on\ top\ of|plus\ (?:a|an|the)|an\ additional|aside\ from|apart\ from)\b
        | \b(?:too|either|likewise|aussi|non\ plus|auch|ook|tampoco|neanche|também)\s*(?:$|[,.;!)])
        | \b(?:auch|zusätzlich|außerdem|ebenfalls|nicht\ (?:nur|bloß)|ebenso|ferner|neben|darüber\ hinaus)\b
        | \b(?:aussi|également|en\ plus|en\ outre|pas\ (?:seulement|que)|de\ plus)\b
        | \b(?:también|además|aparte|tampoco|no\ (?:solo|sólo|solamente)|igualmente|asimismo)\b
        | \b(?:anche|inoltre|neanche|nemmeno|non\ (?:solo|soltanto))\b
        | \b(?:também|além|tampouco|não\ (?:só|apenas))\b
        | \b(?:ook|bovendien|daarnaast|tevens|eveneens|niet\ alleen)\b
        | も(?:必要|使|行|送|要|追加|含|必ず|$|、|。|同|確認|対|担当|承認|見|実|入) | さらに | に加えて | 加え | だけでなく | 追加で
        | 也 | 还(?:要|需|有|会|得|可|能|应) | 另外 | 此外 | 除了 | 不仅 | 不只 | 同时
        | [\x{1100}-\x{11ff}\x{ac00}-\x{d7af}]도(?:\s|$|,|\.) | 추가로 | 또한 | 뿐만 | 게다가",
    )
});
static STRONG: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:moved|moving|move|switched|switching|migrated|migrating|replaced?|replaces|renamed|changed|slipped|postponed|rescheduled|pushed\ (?:back|to|out)|delayed|bumped|raised|lowered|increased|reduced|upgraded|downgraded|shifted|took\ over|takes\ over|taking\ over|handed\ over|new\ date|went\ from|no\ longer|any\ ?more|instead|rather\ than|from\ now\ on|going\ forward|these\ days|as\ of|starting|effective|correction|scratch\ that|used\ to|swapped|converted|turns\ out|cut\ (?:down\ )?to|extended\ to|brought\ forward|not\ .{1,30}\ but)\b
        | \b(?:nicht\ mehr|ab\ (?:jetzt|sofort|heute)|von\ jetzt\ an|künftig|in\ zukunft|(?:an)?statt|anstelle|umgezogen|umgestellt|gewechselt|wechseln|geändert|verschoben|ersetzt|verlegt|übernimmt|übernommen|umgestiegen|migriert|umbenannt|erhöht|gesenkt)\b|\bkein\w*\b.*\bmehr\b
        | \b(?:désormais|dorénavant|au\ lieu\ d[eu’']|à\ la\ place|à\ partir\ de|changé|déménagé|remplacé|passé|passe\ (?:à|de)|passons|reporté|repoussé|déplacé|migré|remplace|reprend)\b|\b(?:ne|n['’]\w*)\b.*\bplus\b
        | \b(?:ya\ no|en\ vez|en\ lugar|a\ partir\ de|de\ ahora\ en|cambi(?:ó|ado|amos|a)|movi(?:ó|do|mos)|pas(?:ó|amos)|migr(?:ó|amos|ado)|reemplaz\w+|sustitu\w+|aplaz\w+|retras\w+|traslad\w+|se\ fue)\b
        | \b(?:non\ .{0,30}\ ?più|invece|al\ posto|d['’]ora\ in\ poi|da\ ora\ in\ poi|cambiat\w|spostat\w|passat\w|sostituit\w|migrat\w|rinviat\w|rimandat\w)\b
        | \b(?:não\ .{0,30}\ ?mais|já\ não|em\ vez|em\ lugar|ao\ invés|a\ partir\ de|de\ agora\ em|daqui\ em|mud(?:ou|amos|ado)|pass(?:ou|amos)|migr(?:ou|amos)|substitu\w+|adiad\w|trocamos|trocou)\b
        | \b(?:niet\ (?:meer|langer)|vanaf\ nu|voortaan|in\ plaats\ van|verhuisd|overgestapt|gewijzigd|vervangen|verplaatst|verschoven|uitgesteld|overgenomen|neemt)\b|\bgeen\b.*\bmeer\b
        | もう.*(?:ない|ません|なく) | ではなく | じゃなく | 代わりに | 今後 | これから | 変更 | 変わ | 移行 | 移動 | 切り替え | 延期 | になりました | になった | 替え
        | 以后 | 不再 | 改为 | 改成 | 改到 | 改用 | 换成 | 换到 | 换了 | 搬到 | 迁移 | 迁到 | 移到 | 推迟 | 而不是 | 取代 | 代替 | 不在.*了 | 不用.*了 | 不是.*了 | 调整为 | 从.*到
        | 더\ ?이상 | 앞으로 | 대신 | 변경 | 바뀌 | 바꿨 | 바뀐 | 옮겼 | 이전했 | 연기 | 아니라 | 전환",
    )
});
static WEAK: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:now|currently|nowadays|new|actually|since\ (?:this|last|today|yesterday|\d|mon|tues|wednes|thurs|fri|satur|sun|january|february|march|april|may|june|july|august|september|october|november|december)\w*|jetzt|inzwischen|mittlerweile|neu|neue|neuer|neues|nun|seit|maintenant|nouveau|nouvelle|ahora|nuev[oa]|ora|adesso|nuov[oa]|agora|nov[oa]|nu|nieuwe?|tegenwoordig)\b
        | 現在 | 今は | 今では | 现在 | 新的 | 目前 | 이제 | 지금은 | 현재 | 새로",
    )
});
static NOT_ONLY: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:not\ (?:just|only)|nicht\ (?:nur|bloß)|pas\ seulement|no\ (?:solo|sólo)|non\ (?:solo|soltanto)|não\ (?:só|apenas)|niet\ alleen)\b|不仅|不只|だけでなく|뿐만",
    )
});
static LONGER: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:no\ longer|no\ more|not\ any\ (?:more|longer)|(?:not|never|no)\b.*\bany\ ?(?:more|longer))\b
        | n['’]?t\b.*\bany\ ?(?:more|longer)\b
        | \bnicht\ (?:mehr|länger)\b | \bkein\w*\b.*\bmehr\b
        | \b(?:ne|n['’]\w*)\b.*\bplus\b | ^\W*(?:et\ )?plus\ (?:les?|la|l['’]|chez|sur|du|de|à|dans|en|par|avec)
        | \bya\ no\b | \bnon\b.*\bpiù\b | \bnão\b.*\bmais\b | \bjá\ não\b
        | \bniet\ (?:meer|langer)\b | \bgeen\b.*\bmeer\b
        | 不再 | 不(?:是|在|用|走|需要|归|由).*了 | もう.*(?:ない|ません|なく) | ではなく | じゃなく | 더\ ?이상 | 아니라",
    )
});
static CARES: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:care|insist|mind|matter|matters|bother|need|needed|required?|necessary|apply|applies|relevant|true|valid|wichtig|nötig|egal|brauche\w*|gilt|importe|besoin|valable|importa|necesit\w+|hace\ falta|serve|importante|precis\w+|nodig|belangrijk|geldt)\b|需要|必要|要らない|필요",
    )
});
static LEFT: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:left|quit|resigned|retired)\s*(?:$|us|the\ (?:company|team|project)|last|this|in|on|at|\d)
        | \b(?:is|has)\ (?:gone|left|leaving|moving\ on|retiring|on\ parental\ leave|on\ leave|moved\ on)\b
        | \bmoved\ to\ (?:another|a\ (?:new|different|other)|the\ \w+)\ (?:team|department|company|project|role)\b | \b(?:changed|switched)\ (?:teams?|jobs?|companies)\b
        | \b(?:isn['’]t|is\ not)\ (?:here|with\ us|around)\b
        | \b(?:ist|sind)\ (?:weg|raus|gegangen|ausgeschieden)\b | \bhat\ gekündigt\b | \bverlassen\b | \bist\ nicht\ mehr\ (?:da|dabei|bei\ uns)\b
        | \ba\ quitté\b | \best\ partie?\b | \bse\ (?:fue|ha\ ido|marchó)\b | \bdejó\b
        | \bse\ n['’]è\ andat\w | \bha\ lasciato\b | \bè\ andat\w\ via | \bsaiu\b | \bfoi\ embora\b | \bis\ (?:weg|vertrokken)\b
        | 离职 | 走了 | 离开 | 退職 | 辞め | 異動 | 퇴사 | 그만두 | 떠났",
    )
});
static DROPPED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:we|i|they|everything)(?:['’]re|\ are|['’]m|['’]ve|\ have|['’]s|\ is)?\ (?:now\ |all\ |fully\ |completely\ |finally\ |moved\ |gone\ |went\ |got\ |come\ |came\ |migrated\ |moving\ )*(?:off|away\ from))\b
        | \b(?:got|get|getting)\ rid\ of\b | \bdone\ with\b | \bstop(?:ped)?\ \w+ing\b
        | \b(?:dropped|ditched|killed|retired|sunset|decommissioned|abandoned|scrapped|deprecated|phased\ out|shut\ down|turned\ off|removed|discontinued)\b
        | \b(?:is|are|was|were|got)\ (?:dead|gone|deprecated|retired|cancelled|canceled|history|obsolete|decommissioned|shut\ down|turned\ off|over|out)\b
        | \bforget\ (?:about\ )?(?:the\ )?\w | \bused\ to\ be\b
        | \b(?:weg\ von|abgeschafft|abgeschaltet|abgelöst|verabschiedet|eingestellt|früher)\b
        | \b(?:abandonné\w*|supprimé\w*|arrêté\w*|c['’]est\ fini)\b
        | \b(?:dejamos|abandonamos|eliminamos|quitamos|se\ acabó)\b
        | \b(?:abbandonat\w|dismess\w|eliminat\w)\b | \b(?:deixamos|abandonamos|largamos|removemos)\b
        | \b(?:gestopt\ met|afgeschaft|weg\ bij|uitgefaseerd)\b
        | 弃用 | 停用 | 废弃 | 下线了 | 取消了 | 廃止 | やめ | 終了し | 폐기 | 중단 | 안\ 써",
    )
});
static CORRECTED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:(?:and|und|et|y|e|en)\ )?(?:not|nicht|pas|não|niet|no\ (?:el|la|los|las|en|por|a)|non\ (?:il|la|i|le|da|a|su))\b\s*(?:\S+\s*){1,5}$|^\W*(?:而)?不是",
    )
});
static INSTEAD: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<all>,?\s*\b(?:instead\ of|rather\ than|in\ place\ of|(?:an)?statt(?:\ von|\ auf|\ in|\ am|\ an|\ bei|\ über)?|anstelle\ (?:von|de[rs])|au\ lieu\ d(?:e|u|['’])|à\ la\ place\ d(?:e|u|['’])|plutôt\ qu(?:e|['’])|en\ (?:vez|lugar)\ del?|invece\ (?:di|che|del|della)|al\ posto\ d(?:i|el|ella)|anziché|em\ (?:vez|lugar)\ d[eoa]s?|ao\ invés\ d[eoa]s?|in\ plaats\ van)\s*
            (?P<old>(?:(?:the|a|an|on|in|at|via|using|der|die|das|den|dem|le|la|les|el|los|las|il|lo|i|o|os|as|de|het|[^\s,;.()]+)\ ){0,2}?[^\s,;()]+?))(?:\s*[,;)]|[.!]?\s*$|\s+(?:since|because|for|from|as|at|on|in|when|to|is|are|and|weil|ab|seit|für|wegen|depuis|pour|parce|desde|para|porque|da|per|perché|vanaf|voor|omdat|now|jetzt)\b)",
    )
});
static REPLACED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<all>\b(?:(?:have|has|haben|hebben|avons|hemos|abbiamo)\ )?(?:replaced|swapped|traded|exchanged|ersetzten|remplacé|reemplaz\w+|sustitu\w+|sostituito|substitu\w+|trocamos|vervangen)\s+(?P<old>[^,;]{1,40}?)\s+(?:with|by|for|durch|par|por|con|com|door)\s+)",
    )
});
static REPLACED_BY: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<all>(?P<old>[^,;]{1,40}?)\s+(?:(?:is|was|were|are|got|gets|has|have|been|being|wurde|wird|est|été|a|fue|ha|sido|stato|è|foi|werd|is)\s+)+(?:replaced|superseded|succeeded|renamed|umbenannt|renommée?|rebatizad[oa]|hernoemd|remplacée?|reemplazad[oa]|sustituid[oa]|sostituit[oa]|substituíd[oa]|vervangen|abgelöst)\s+(?:by|with|to|in|zu|en|naar|durch|par|por|da|door|von)\s+)",
    )
});
static REPLACES: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<all>\b(?:replaces|replaced|supersedes|succeeds|ersetzt|remplace|reemplaza|sustituye|sostituisce|substitui|vervangt)\s+(?P<old>\S+(?:\s\S+)?))\s*$",
    )
});
static FROM: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"\b(?P<all>(?:from|von|de|da|van|du|del|dal)\s+(?P<old>(?:the\ |der\ |die\ |dem\ )?[^\s,;]+(?:\s[^\s,;]+)?)\s+)(?:to|onto|into|auf|zu|zum|zur|nach|à|vers|a|al|para|naar)\s",
    )
});
static BEFORE_SIGNS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<all>[从由](?P<old>[^，。、]{1,16}?))(?:改为|改成|改到|换成|换到|迁移到|迁到|搬到|移到|调整为)",
    )
});
static REASON: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:because|since\ (?:he|she|it|we|they|the|i|that)|so\ that|as\ (?:it|he|she|we|they)|due\ to|or\ else|otherwise|weil|da\ (?:er|sie|es|wir)|wegen|damit|sonst|parce|car\b|sinon|porque|ya\ que|perché|altrimenti|pois|omdat|want\b|anders)|^(?:因为|由于|否则|ので|から|왜냐하면)",
    )
});
static CHATTER_INSIDE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<keep>\S)\s*,?\s*\b(?:btw|fyi|by\ the\ way|just\ so\ you\ know|jsyk|as\ (?:i\ )?said|like\ i\ said|übrigens|au\ fait|por\ cierto|trouwens|aliás)\b",
    )
});
static CHATTER_BEFORE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"^(?P<keep>)(?:(?:btw|fyi|heads[\ -]?up|ok(?:ay)?|oh|ah|hey|hi|hello|hmm|well|yeah|yes|yep|wait|actually|like\ i\ said|as\ i\ said|as\ said|again|please|pls|just\ so\ you\ know|jsyk|quick\ (?:note|update|one)|small\ update|update|by\ the\ way|one\ more\ thing|(?:please\ |pls\ )?(?:remember|note|keep\ in\ mind)(?:\ that|\ this)?|for\ the\ record|ach\ ja|übrigens|achtung|merk\ dir(?:\ bitte)?|au\ fait|por\ cierto|a\ propósito|trouwens|aliás|ps|p\.s\.)\s*(?:[,:!.–—-]+\s*|\s+)|(?:so|also|no|right|sorry|thanks|danke)\s*[,:]\s+|(?:and|but|und|et|so)\s+(?:about\b\s*)?)",
    )
});
static CHATTER_BEHIND: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?P<keep>[^\s,])(?:[,\s]+(?:btw|fyi|please|pls|thanks|thx|thank\ you|ok|okay|bitte|danke|s['’]il\ (?:te|vous)\ plaît|svp|merci|por\ favor|gracias|per\ favore|grazie|obrigad[oa]|alsjeblieft|bedankt|just\ so\ you\ know|lol|haha|right|:\)|;\)))+[\s.!]*$",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        let all = [
            &ALSO,
            &OPENING,
            &ADDS,
            &STRONG,
            &WEAK,
            &NOT_ONLY,
            &LONGER,
            &CARES,
            &LEFT,
            &DROPPED,
            &CORRECTED,
            &INSTEAD,
            &REPLACED,
            &REPLACED_BY,
            &REPLACES,
            &REPLACED,
            &REPLACED_BY,
            &REPLACES,
            &FROM,
            &BEFORE_SIGNS,
            &REASON,
            &CHATTER_INSIDE,
            &CHATTER_BEFORE,
            &CHATTER_BEHIND,
        ];
        for (at, pattern) in all.into_iter().enumerate() {
            assert_eq!(pattern.faults(), [""; 0], "pattern {at}");
        }
    }
}
