//! The words of orders, by language. All is matched against folded text: lower
//! case, no accents.
//!
//! Where an imperative has a form of its own it counts wherever it stands
//! (`anywhere`); where it looks like another form only where a clause begins
//! (`opening`). A word of duty and a verb in one sentence are an obligation.

use crate::pattern::Pattern;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// The patterns of one language.
pub(super) struct Tongue {
    /// The signs without which a text is not in it.
    pub(super) script: RangeInclusive<char>,
    pub(super) imperative: Pattern,
    pub(super) duty: Pattern,
    pub(super) act: Pattern,
}

struct Words {
    script: RangeInclusive<char>,
    /// Words after which an imperative may stand.
    leading: &'static str,
    opening: &'static str,
    anywhere: &'static str,
    duty: &'static str,
    act: &'static str,
}

pub(super) static TONGUES: LazyLock<Vec<Tongue>> = LazyLock::new(|| {
    SPACED.iter().map(Words::spaced).chain(SPACELESS.iter().map(Words::spaceless)).collect()
});

impl Words {
    fn spaced(&self) -> Tongue {
        let Self { script, leading, opening, anywhere, duty, act } = self;
        let start = r#"(?:^|[.!?;:,()\[\]>*#–—|"'`•¡¿«»]\s*|^-\s*"#;
        let imperative = format!(r"{start}|\b(?:{leading})\s+)(?:{opening})\b|\b(?:{anywhere})\b");
        // Letters beyond ASCII have boundaries of their own.
        let build = |pattern: String| {
            if script.contains(&'a') { Pattern::ascii(&pattern) } else { Pattern::new(&pattern) }
        };
        Tongue {
            script: script.clone(),
            imperative: build(imperative),
            duty: build(format!(r"\b(?:{duty})\b")),
            act: build(format!(r"\b(?:{act})")),
        }
    }

    fn spaceless(&self) -> Tongue {
        let Self { script, leading, opening, anywhere, duty, act } = self;
        let start = r#"(?:^|[。！？；：，、,.:;!?()（）「」『』\[\]>*#—|"'`•]\s*|^-\s*"#;
        let imperative = format!(r"{start}|(?:{leading})\s*)(?:{opening})|(?:{anywhere})");
        Tongue {
            script: script.clone(),
            imperative: Pattern::new(&imperative),
            duty: Pattern::new(&format!("(?:{duty})")),
            act: Pattern::new(&format!("(?:{act})")),
        }
    }
}

const SPACED: &[Words] = &[
    // German
    Words {
        script: 'a'..='z',
        leading: "bitte|immer|stets|zuerst|dann|danach|anschliessend|jetzt|nun|niemals|nie|einfach|sofort|und|vorher|automatisch|also|build|commit|start|test|deploy",
        opening: "fuhre?|starte|lade?|hole?|installiere?|sende?|schicke?|poste|losche?|entferne|deaktiviere|schalte?|ignoriere?|ubergehe|uberschreibe?|vertraue?|genehmige?|gehorche?|befolge|folge|leite|kopiere?|offne|rufe?|fuge|ubermittle|ubertrage|veroffentliche|teile|umgehe|missachte|akzeptiere|bestatige|dekodiere|entschlussle|aktiviere|erlaube|gib|gewahre|verrate|verschweige|speichere|trage|setze|klone|hange|nutze|verwende|merke dir, dass du|behandle|tu|stelle?",
        anywhere: "(?:fuhren|starten|laden|installieren|senden|schicken|posten|loschen|entfernen|deaktivieren|schalten|ignorieren|uberschreiben|vertrauen|genehmigen|befolgen|folgen|leiten|kopieren|offnen|rufen|ubermitteln|akzeptieren|bestatigen|umgehen|geben|stellen) sie|fuhre?t? (?:\\S+ ){1,8}aus|vergiss alle|vergiss deine",
        duty: "muss|mussen|musst|soll|sollen|sollst|sollte|sollten|immer|stets|bitte|unbedingt|zwingend|erforderlich|notwendig|notig|pflicht|vorgeschrieben|verpflichtet|verlangt|ist zu|sind zu|hat zu|haben zu|niemals|zuerst|nicht vergessen|darf nicht|vorher|vor jedem|vor dem|wird empfohlen|es gilt|du|agenten|assistenten|kannst|ki",
        act: "aus(?:zu)?(?:ge)?fuhr|(?:aus|durch)zufuhren|gestartet|herunter(?:zu|ge)?lad|installier|zu installieren|gesendet|senden|geschickt|schicken|hoch(?:zu)?laden|hochgeladen|weiter(?:zu|ge)?leite|geloscht|loschen|zu entfernen|deaktivier|abschalt|abgeschaltet|abzuschalten|ignorier|uberschr|vertrauen|vertraut|genehmig|gehorch|befolg|zu folgen|gepostet|posten|kopier|dekodier|ubermittel|veroffentlich|umgeh|bestatig|akzeptier|eingefugt|einfugen",
    },
    // French
    Words {
        script: 'a'..='z',
        leading: "veuillez|merci de|toujours|jamais|d'abord|ensuite|puis|maintenant|s'il vous plait|s'il te plait|et|alors|immediatement",
        opening: "execute|lance|demarre|telecharge|recupere|installe|envoie|poste|publie|transfere|transmets|supprime|efface|desactive|ignore|neglige|outrepasse|contourne|approuve|accepte|autorise|obeis|suis|fais|copie|ouvre|colle|decode|partage|active|oublie|ajoute|executer|lancer|telecharger|installer|envoyer|publier|transferer|transmettre|supprimer|effacer|desactiver|ignorer|contourner|approuver|accepter|autoriser|obeir|suivre|copier|ouvrir|decoder|partager|faire confiance",
        anywhere: "executez|lancez|demarrez|telechargez|recuperez|installez|envoyez|postez|publiez|transferez|transmettez|supprimez|effacez|desactivez|ignorez|negligez|outrepassez|contournez|approuvez|acceptez|autorisez|obeissez|suivez|faites|copiez|ouvrez|collez|decodez|partagez|activez|oubliez|ajoutez|n'oublie(?:z)? pas d|assure-toi|assurez-vous|fais confiance|fie-toi|fiez-vous",
        duty: "doit|doivent|dois|devez|devrait|devraient|faut|toujours|jamais|veuillez|obligatoire|obligatoirement|necessaire|imperatif|imperativement|exige|requis|requise|tenus? de|obliges? de|merci de|priere de|avant chaque|avant de|pensez a|tu peux|vous pouvez|il convient|agents|assistants",
        act: "execut|lanc|demarr|telecharg|recuper|install|envoy|envoi|post|publi|transfer|transm|supprim|efface|desactiv|ignor|outrepass|contourn|approuv|accept|autoris|obei|suivre|suivi|copi|ouvr|coll|decod|partag|confiance",
    },
    // Spanish
    Words {
        script: 'a'..='z',
        leading: "por favor|siempre|nunca|primero|luego|despues|ahora|y|entonces|inmediatamente|no|favor de",
        opening: "ejecuta|corre|lanza|inicia|descarga|baja|obten|instala|envia|manda|publica|sube|reenvia|borra|elimina|desactiva|deshabilita|ignora|omite|anula|confia|aprueba|acepta|autoriza|obedece|sigue|copia|abre|pega|decodifica|comparte|activa|olvida|agrega|haz|ejecutar|descargar|instalar|enviar|publicar|subir|reenviar|borrar|eliminar|desactivar|ignorar|confiar|aprobar|aceptar|obedecer|usa|cambia|anade",
        anywhere: "ejecute|ejecuten|ejecutes|corran|lance|descargue|descarguen|descargues|instale|instalen|instales|envie|envien|envies|mande|publique|suba|suban|reenvie|borre|borren|borres|elimine|eliminen|desactive|desactiven|desactives|deshabilite|ignore|ignoren|ignores|omita|anule|confie|confien|confies|apruebe|aprueben|acepte|acepten|autorice|obedezca|obedezcan|siga|sigan|copie|abra|pegue|decodifique|comparta|asegurate|asegurese|no olvides|no olvide",
        duty: "debe|deben|debes|deberia|deberian|hay que|tiene que|tienen que|tienes que|siempre|nunca|obligatorio|obligatoria|necesario|necesaria|imprescindible|requiere|requerido|exige|se exige|es preciso|antes de|por favor|recuerda|recuerde|has de|ha de|puedes|agentes|asistentes",
        act: "ejecut|correr|lanzar|descarg|instal|envi|mandar|public|subir|subid|reenvi|borr|elimin|desactiv|deshabilit|ignor|omit|anul|confi|aprob|aprueb|acept|autoriz|obede|seguir|copi|abrir|peg|decodific|compart",
    },
    // Italian
    Words {
        script: 'a'..='z',
        leading: "per favore|sempre|mai|prima|poi|quindi|ora|e|non|si prega di|subito",
        opening: "esegui|lancia|avvia|scarica|installa|invia|manda|pubblica|carica|inoltra|cancella|elimina|rimuovi|disattiva|disabilita|ignora|salta|scavalca|fidati|approva|accetta|autorizza|obbedisci|ubbidisci|segui|copia|apri|incolla|decodifica|condividi|attiva|dimentica|eseguire|scaricare|installare|inviare|ignorare|cancellare|eliminare|disattivare|usa",
        anywhere: "esegua|eseguite|scarichi|scaricate|installi|installate|invii|inviate|cancelli|cancellate|disattivi|disattivate|ignori|ignorate|approvi|approvate|obbedite|seguite|fidatevi|si fidi|assicurati|assicuratevi|non dimenticare di",
        duty: "deve|devono|devi|dovete|dovrebbe|dovrebbero|bisogna|occorre|sempre|mai|obbligatorio|obbligatoria|necessario|necessaria|richiesto|richiede|va|vanno|prima di|si prega|e tenuto|ricorda di|agenti|assistenti",
        act: "esegu|lanci|avvi|scaric|install|invi|mandar|mandat|pubblic|caricar|caricat|inoltr|cancell|elimin|rimuov|rimoss|disattiv|disabilit|ignor|salta|fidar|approv|accett|autorizz|obbed|segu|copi|aprir|decodific|condivi",
    },
    // Portuguese
    Words {
        script: 'a'..='z',
        leading: "por favor|sempre|nunca|primeiro|depois|agora|e|entao|nao|favor",
        opening: "executa|roda|rode|corre|inicia|baixa|baixe|descarrega|instala|envia|manda|mande|publica|sobe|encaminha|apaga|exclui|remove|desativa|desabilita|ignora|pula|anula|confia|aprova|aceita|autoriza|obedece|segue|copia|abre|cola|decodifica|compartilha|ativa|esquece|executar|baixar|instalar|enviar|ignorar|apagar|usa",
        anywhere: "execute|executem|inicie|descarregue|instale|instalem|envie|enviem|publique|encaminhe|apague|apaguem|exclua|remova|desative|desativem|desabilite|ignore|ignorem|anule|confie|confiem|aprove|aprovem|aceite|autorize|obedeca|obedecam|siga|sigam|decodifique|certifique-se|nao se esqueca",
        duty: "deve|devem|deves|deveria|deveriam|tem que|tem de|precisa|precisam|e preciso|sempre|nunca|obrigatorio|obrigatoria|necessario|necessaria|exige|requer|antes de|por favor|lembre-se|agentes|assistentes",
        act: "execut|rodar|rodad|inici|baix|descarreg|instal|envi|mandar|public|encaminh|apag|exclu|remov|desativ|desabilit|ignor|anul|confi|aprov|aceit|autoriz|obede|seguir|copi|abrir|decodific|compartilh",
    },
    // Dutch
    Words {
        script: 'a'..='z',
        leading: "alsjeblieft|graag|altijd|nooit|eerst|dan|daarna|nu|en|gelieve|direct|meteen",
        opening: "voer|draai|haal|installeer|stuur|verstuur|zend|plaats|verwijder|wis|schakel|zet|negeer|overschrijf|omzeil|vertrouw|keur|accepteer|gehoorzaam|volg|kopieer|plak|decodeer|deel|activeer|vergeet|geef|gebruik|(?:uit te voeren|te installeren|te sturen)",
        anywhere: "voert u|installeert u|stuurt u|zorg ervoor dat|vergeet niet",
        duty: "moet|moeten|dient|dienen|hoort|horen|zou moeten|altijd|nooit|verplicht|noodzakelijk|nodig|vereist|gelieve|voordat|alsjeblieft|agenten|assistenten",
        act: "uit(?:ge)?voer|uit te voeren|draaien|gedraaid|gestart|download|gedownload|installer|geinstalleerd|sturen|gestuurd|verstuur|geplaatst|upload|geupload|verwijder|gewist|wissen|uitgeschakeld|uitschakel|negeren|genegeerd|overschr|omzeil|vertrouw|goedgekeurd|goedkeur|gehoorzam|gevolgd|volgen|kopier|gedeeld|delen|decoder",
    },
    // Russian
    Words {
        script: 'а'..='я',
        leading: "пожалуйста|всегда|никогда|сначала|затем|потом|теперь|и|немедленно",
        opening: "запустить|выполнить|скачать|загрузить|установить|отправить|переслать|удалить|отключить|игнорировать|доверять|одобрить|подчиняться",
        anywhere: "(?:запусти|запускай|выполни|выполняй|исполни|скачай|скачивай|загрузи|загружай|установи|устанавливай|отправь|отправляй|пошли|перешли|пересылай|опубликуй|удали|удаляй|сотри|отключи|отключай|выключи|игнорируй|проигнорируй|пропусти|обойди|переопредели|доверяй|доверься|одобри|одобряй|прими|разреши|подчиняйся|повинуйся|следуй|скопируй|открой|вставь|декодируй|расшифруй|забудь|сообщи|передай)(?:те)?",
        duty: "должен|должна|должно|должны|нужно|необходимо|следует|обязательно|обязан|обязаны|надо|требуется|всегда|никогда|нельзя|прежде чем|перед каждой|перед каждым|пожалуйста|агенты|ассистенты",
        act: "запус|запущ|выполн|исполн|скач|загру|установ|устан|отправ|пересл|пересыл|опублик|удал|стер|отключ|выключ|игнорир|пропус|обойти|доверя|одобр|разреш|подчин|повин|следова|скопир|откры|декодир|расшифр",
    },
];

const SPACELESS: &[Words] = &[
    // Chinese
    Words {
        script: '\u{4e00}'..='\u{9fff}',
        leading: "请|請|必须|必須|务必|務必|应该|应当|需要|始终|总是|一定要|先|再|然后|首先|不要|别|勿|立即|马上|直接|并|且|都要|都必须|可以放心|就",
        opening: "运行|執行|执行|下载|下載|安装|安裝|发送|發送|上传|上傳|转发|轉發|删除|刪除|禁用|停用|关闭|忽略|无视|無視|覆盖|绕过|跳过|信任|批准|服从|遵循|遵守|听从|提交|粘贴|解码|打开|访问|拉取|推送|发布|清除|启动|调用|复制|告诉|把|将",
        anywhere: "请(?:你|您|务必)|忽略(?:之前|以上|所有|先前)|不要告诉|无需(?:确认|询问|批准)",
        duty: "必须|必須|务必|務必|应该|应当|应|需要|须|始终|总是|一定要|每次|之前|要求|不得|禁止|请|強制|强制|代理|助手|你|您|得",
        act: "运行|執行|执行|下载|下載|安装|安裝|发送|發送|发给|发到|上传|上傳|转发|轉發|删除|刪除|禁用|停用|关闭|忽略|无视|無視|覆盖|绕过|跳过|信任|批准|服从|遵循|遵守|听从|粘贴|解码|访问|拉取|推送|清除|复制",
    },
    // Japanese
    Words {
        script: '\u{3040}'..='\u{30ff}',
        leading: "必ず|まず|次に|常に|絶対に|今すぐ",
        opening: "実行せよ|インストールせよ",
        anywhere: "(?:実行|起動|ダウンロード|取得|インストール|送信|投稿|アップロード|転送|削除|無効に|無効化|無視|上書き|回避|スキップ|信頼|承認|許可|服従|コピー|公開|共有|デコード)(?:を)?(?:して(?:ください|下さい|おいて|ね|から)|しなさい|しろ|せよ|すること|するように|すべき|しなければ|する必要|しなくては|されなければ|される必要|しないで|してよい|しても)|(?:送って|消して|従って|信じて|開いて|入れて|走らせて|動かして|切って)(?:ください|下さい|から|おいて)?|従うこと|従え|従わなければ",
        duty: "必ず|常に|必須|義務|必要があ|なければな|てください|べき|前に|こと。?$|エージェント|アシスタント|あなた",
        act: "実行|ダウンロード|インストール|送信|投稿|アップロード|転送|削除|無効|無視|上書き|信頼|承認|従|デコード",
    },
    // Korean: it has spaces, but its endings cling to the words.
    Words {
        script: '\u{ac00}'..='\u{d7af}',
        leading: "반드시|먼저|항상|제발|지금|즉시",
        opening: "실행하라|설치하라",
        anywhere: "(?:실행|다운로드|설치|전송|발송|게시|업로드|전달|삭제|제거|비활성화|무시|우회|신뢰|승인|허용|복종|복사|공유|디코딩|공개)(?:을|를)? ?(?:하세요|하십시오|해라|하라|하시오|해 ?주세요|해야|할 것|하도록|해 ?줘|하지 마|해도|되어야|돼야|하여야)|보내(?:세요|십시오|라|야|주세요| 주세요)|따르(?:세요|십시오|라)|따라야|믿으세요",
        duty: "반드시|항상|필수|의무|해야|하여야|되어야|돼야|필요가 있|전에|에이전트|어시스턴트|당신",
        act: "실행|다운로드|설치|전송|발송|게시|업로드|전달|삭제|제거|비활성화|무시|우회|신뢰|승인|복종|보내|따르|따라|디코딩",
    },
];

/// Words by which a text sets aside what its reader was told.
pub(super) static ABOVE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(
        r"(?x)
        \b(?:ignore|disregard|forget|override|overrule|bypass|circumvent|set\ aside|supersede)\b (?:\ \w+){0,3}?
            \ (?:all|any|your|previous|prior|earlier|above|preceding|existing|system|safety|every|these|original|initial|other)\b
            (?:\ \w+){0,4}?\ (?:instructions?|directives?|guardrails?|system\ prompts?|prompts?|permissions?|safety\ \w+|restrictions?|constraints)\b
        | \b(?:ignore|disregard|forget|override|bypass)\b (?:\ \w+){0,2}?\ (?:your|previous|prior|safety|system)\b (?:\ \w+){0,2}?\ (?:rules|guidelines|polic\w+|training)\b
        | \b(?:ignore|disregard|forget|override|bypass)\ (?:the\ |all\ |any\ )?(?:system\ prompt|safety|permissions?|instructions)\b
        | \b(?:ignore|disregard|forget)\ (?:everything|all|anything)\ (?:\w+\ ){0,3}(?:above|before|told|said\ earlier)\b
        | \bsystem\ prompt\b (?:\ \S+){0,4}?\ (?:is|reads|says)\b
        | \byou\ (?:are\ now|must\ now|have\ to\ obey|must\ obey)\b
        | \b(?:do\ not|don't|never)\ (?:tell|ask|inform|alert|notify|show)\ the\ (?:user|person|human)\b
        | \bwithout\ (?:asking|telling|informing|permission\ of|the\ (?:knowledge|consent)\ of)\ the\ (?:user|person|human)\b
        | \b(?:ignoriere?n?|vergiss|missachte|ubergehe|uberschreibe)\b (?:\ \w+){0,2}?\ (?:alle|deine[nr]?|ihre|vorherige[nr]?|bisherige[nr]?|fruhere[nr]?|obige[nr]?)\b (?:\ \w+){0,3}?\ (?:anweisung\w*|regeln|vorgaben|instruktionen|systemprompt)\b
        | \b(?:ignore[rz]?|oublie[rz]?|outrepasse[rz]?)\b (?:\ \w+){0,3}?\ (?:instructions|consignes|directives)\b
        | \b(?:ignor[ae]|olvid[ae]|anul[ae]|desestim[ae])\b (?:\ \w+){0,4}?\ (?:instrucciones|directrices|instrucoes|diretrizes)\b
        | \b(?:ignora|dimentica|scavalca)\b (?:\ \w+){0,3}?\ (?:istruzioni|direttive)\b
        | \b(?:ignore|esqueca)\b (?:\ \w+){0,3}?\ (?:instrucoes|diretrizes)\b
        | \b(?:negeer|vergeet)\b (?:\ \w+){0,3}?\ (?:instructies|aanwijzingen)\b
        | (?:игнорируй|забудь|проигнорируй)(?:те)? (?:\ \w+){0,3}?\ (?:инструкци\w*|указани\w*)
        | (?:忽略|无视|無視|忘记|忘掉|不要理会)[^。\n]{0,12}(?:指令|指示|提示词|说明|規則)
        | (?:指示|命令|プロンプト|ルール)を?(?:すべて|全て)?(?:無視|忘れ)
        | (?:지시|명령|지침|프롬프트)[^.\n]{0,6}(?:무시|잊)",
    )
});

/// Signs of the envelopes in which text is shown to a model.
pub(super) static ENVELOPE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        r"<\s*/?\s*(?:system-reminder|persisted-output|system|assistant|human|instructions?|tool_result|function_calls|function_results)\b|<\|\s*(?:im_start|im_end|system|user|assistant|endoftext)|\[/?inst\]|<</?sys>>",
    )
});

/// Words of a text that speaks as if it were the system, or its maker.
pub(super) static POSES: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(
        r"(?x)\bsystem\ ?prompt\b | \bnew\ (?:system\ )?instructions?\b | \bdeveloper\ mode\b | \bjailbreak
        | (?:^|\n)[\#*\s]*(?:system|admin|developer|operator)\s*(?:message|notice|override|note|update)?\s*:
        | \b(?:message|notice|instruction|order|directive)s?\ (?:from|by)\ (?:the\ |your\ )?(?:system|developers?|admin\w*|operators?|anthropic|openai|vendor)\b
        | \b(?:attention|note\ to|message\ to|instructions?\ for|hint\ for)\ (?:all\ |any\ |the\ |every\ )?(?:ai|agents?|assistants?|llms?|models?|claude)\b
        | \bas\ (?:an?|the)\ (?:admin\w*|operator|system|owner\ of\ this)\b | \byour\ (?:new\ )?(?:role|persona|purpose|instructions)\b
        | \byou\ (?:are|act)\ (?:no\ longer|as|hereby)\b | \bdu\ bist\ (?:jetzt|nun|ab\ sofort)\b | \bsystem-?prompt\b | \bvous\ etes\ (?:maintenant|desormais)\b
        | \btu\ es\ (?:maintenant|desormais)\b | \bahora\ eres\b | \beres\ ahora\b | \bora\ sei\b | \bagora\ (?:voce\ e|es)\b | \bje\ bent\ nu\b | ты\ теперь | теперь\ ты
        | 你现在是 | 从现在起你 | 系统提示 | あなたは(?:今|これ)から | システムプロンプト | 당신은\ 이제 | 시스템\ 프롬프트",
    )
});

/// Words by which a text claims a permission or asks for secrecy.
pub(super) static BEHIND: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(
        r"(?x)
        \b(?:do\ not|don'?t|never|not\ to|without)\ (?:tell|mention|mentioning|telling|inform|informing|ask|asking|warn|warning|notify|notifying|disclose|reveal|report|show|showing|prompt|prompting)\b
        | \b(?:user|person|human|owner|admin\w*|customer|maintainers?|security\ team)\ (?:has|have|had|already)\ (?:\w+\ ){0,2}(?:approved|authori[sz]ed|agreed|consented|permitted|granted|allowed|confirmed|signed\ off)\b
        | \b(?:approval|permission|consent|confirmation|review)s?\ (?:\w+\ ){0,3}(?:not\ (?:needed|required|necessary)|unnecessary|already\ (?:given|granted)|is\ waived|are\ waived)\b
        | \bno\ (?:approval|permission|consent|confirmation|review)\ (?:is\ |\w+\ )?(?:needed|required|necessary)\b
        | \b(?:is|are)\ (?:pre-?approved|always\ safe|fully\ trusted|to\ be\ trusted|safe\ to\ (?:run|execute|install))\b | \bpre-?approved\b
        | \bkeep\ (?:this|it|that)\ (?:\w+\ ){0,3}(?:secret|hidden|from|quiet|between)\b
        | \b(?:sag|sage|sagen\ sie|verrate|erwahne|melde|frage?)\b[^.\n]{0,40}\b(?:nicht|nichts|niemandem)\b | \bohne\ (?:\w+\ ){0,3}(?:zu\ fragen|ruckfrage|nachfrage|zu\ informieren|nachzufragen|genehmigung|zustimmung)\b
        | \bne\ (?:le\ |la\ |lui\ |rien\ )?(?:dites|dis|dire|mentionne\w*|previen\w*|informe\w*|demande\w*|signale\w*)\b | \bsans\ (?:\w+\ )?(?:demander|prevenir|informer|confirmation|autorisation|en\ parler)\b
        | \bno\ (?:le\ |se\ lo\ |lo\ )?(?:digas|diga|menciones|mencione|informes|informe|avises|avise|preguntes|pregunte)\b | \bsin\ (?:preguntar|avisar|informar|pedir|confirmaci\w+|permiso|aprobaci\w+)\b
        | \bnon\ (?:dire|dirlo|menzionare|informare|chiedere)\b | \bsenza\ (?:chiedere|avvisare|informare|conferma)\b
        | \bnao\ (?:diga|mencione|informe|avise|pergunte)\b | \bsem\ (?:perguntar|avisar|informar|confirmacao)\b
        | \bzonder\ (?:te\ vragen|het\ te\ vragen|te\ melden|toestemming|bevestiging)\b | \b(?:vertel|zeg)\ (?:het\ )?(?:niet|niets)\b
        | не\ (?:говори|сообщай|упоминай|спрашивай|предупреждай)\w* | без\ (?:подтверждения|спроса|ведома|разрешения)
        | 不要(?:告诉|提及|通知|询问|提醒|透露) | (?:无需|不必|不用)(?:确认|询问|批准|告知|征求) | 已(?:经)?(?:批准|授权|同意)
        | (?:言わ|知らせ|伝え|尋ね|確認し)(?:ないで|ずに|ない(?:で|こと)) | 確認なし | 許可なく | 내게?\ 묻지 | 알리지\ (?:마|말|않) | 말하지\ (?:마|말) | 묻지\ (?:말|않) | 확인\ 없이",
    )
});

/// Command lines that fetch and run something, or destroy it.
pub(super) static SHELL: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ascii(
        r"(?x)\|\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b | \|\s*(?:python3?|node|perl|ruby|iex|powershell)\b
        | \b(?:ba|z)?sh\ -c\b | \bsh\ <\( | \biex\b\s*\( | \binvoke-(?:expression|webrequest)\b | \bbase64\ (?:-d|--decode|-D)\b
        | \brm\ -[rf]{1,2}\b | \bcurl\ (?:-\S+\ )*\S*[./]\S+ | \bwget\ (?:-\S+\ )*\S*[./]\S+ | \bchmod\ (?:\+x|[0-7]{3,4})\b | \bsudo\ \w+ | \bmkfs\b | \bdd\ if=
        | \bgit\ push\ (?:\S+\ )*(?:--force|-f)\b | --no-verify\b | \bnpx\ (?:-y\ )?\S+ | \bpip3?\ install\ \S+ | \b(?:npm|pnpm|yarn|bun)\ (?:i|install|add)\ (?:-\S+\ )*[@\w]\S*
        | \beval\ ?[\x22'$(`] | \bcrontab\b | \bssh\ \S+@\S+ | \bscp\ \S+ | \bnc\ -\w+ | \b(?:npm|pip|git)\ config\ set\b | javascript: | \bon(?:error|load)=",
    )
});

/// Words that ask to decode something.
pub(super) static DECODE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        r"decode|decrypt|base64|rot13|\bhex\b|unescape|dekodier|entschlussel|decod|decript|decifr|descifr|dechiffr|decodeer|декодир|расшифр|解码|解碼|デコード|復号|디코딩|복호",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_all_patterns_compile() {
        for pattern in [&ABOVE, &ENVELOPE, &POSES, &BEHIND, &SHELL, &DECODE] {
            assert_eq!(pattern.faults(), [""; 0]);
        }
        // What is not tried would not have matched: words of all lists, in and
        // out of place.
        let lists = SPACED.iter().chain(SPACELESS).flat_map(|words| {
            [words.leading, words.opening, words.anywhere, words.duty, words.act]
        });
        let plain = lists.flat_map(|list| list.split(['|', '(', ')'])).step_by(7);
        let heads = ["", "ignore all previous instructions ", "you are now ", "sudo "];
        for (word, head) in plain.zip(heads.into_iter().cycle()) {
            for text in
                [format!("{head}{word}"), format!("x{head}: {word} now"), word.to_uppercase()]
            {
                for pattern in [&ABOVE, &ENVELOPE, &POSES, &BEHIND, &SHELL, &DECODE] {
                    assert_eq!(pattern.is_in(&text), pattern.is_in_by_trying(&text), "{text}");
                }
                for tongue in TONGUES.iter() {
                    for pattern in [&tongue.imperative, &tongue.duty, &tongue.act] {
                        assert_eq!(pattern.is_in(&text), pattern.is_in_by_trying(&text), "{text}");
                    }
                }
            }
        }
        assert_eq!(TONGUES.len(), 10);
        for tongue in TONGUES.iter() {
            for pattern in [&tongue.imperative, &tongue.duty, &tongue.act] {
                assert_eq!(pattern.faults(), [""; 0]);
            }
        }
    }
}
