//! Words that people and models use for one thing, in the languages of R15.
//!
//! A memory in English of a sentence in German shares no ordinary words with
//! it. These let the most common ones meet. A row is one thing; its first word
//! stands for all; `*` is any ending. Folded: no accents, lower case.

use everfold_memory_recall::stems;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const DAYS: &[&str] = &[
    "monday mondays montag* lundi* lunes lunedi segunda-feira segunda maandag* понедельник* 周一 星期一 月曜 월요일 poniedzialek",
    "tuesday tuesdays dienstag* mardi* martes martedi terca dinsdag* вторник* 周二 星期二 火曜 화요일 wtorek",
    "wednesday wednesdays mittwoch* mercredi* miercoles mercoledi quarta woensdag* среда среду средам 周三 星期三 水曜 수요일",
    "thursday thursdays donnerstag* jeudi* jueves giovedi quinta donderdag* четверг* 周四 星期四 木曜 목요일 czwartek",
    "friday fridays freitag* vendredi* viernes venerdi sexta vrijdag* пятниц* 周五 星期五 金曜 금요일 piatek",
    "saturday saturdays samstag* sonnabend* samedi* sabado* sabato zaterdag* суббот* 周六 星期六 土曜 토요일",
    "sunday sundays sonntag* dimanche* domingo* domenica zondag* воскресень* 周日 星期日 星期天 日曜 일요일",
    "january januar janvier enero gennaio janeiro januari январ*",
    "february februar fevrier febrero febbraio fevereiro februari феврал*",
    "march marz mars marzo maart март*",
    "april avril abril aprile апрел*",
    "june juni juin junio giugno junho июн*",
    "july juli juillet julio luglio julho июл*",
    "august aout agosto augustus август*",
    "september septembre septiembre settembre setembro сентябр*",
    "october oktober octobre octubre ottobre outubro октябр*",
    "november novembre noviembre novembro ноябр*",
    "december dezember decembre diciembre dicembre dezembro декабр*",
];

/// Numbers as words.
const NUMBERS: &[(&str, &str)] = &[
    ("1", "one once ein eins einen einer un une uno una um uma een один 一 하나"),
    ("2", "two twice both second zwei zwo deux dos due dois duas twee два две 二 两 둘 zweimal"),
    ("3", "three third drei trois tres tre drie три 三 셋"),
    ("4", "four vier quatre cuatro quattro quatro четыре 四"),
    ("5", "five funf cinq cinco cinque vijf пять 五"),
    ("6", "six sechs seis sei zes шесть 六"),
    ("7", "seven sieben sept siete sette sete zeven семь 七"),
    ("8", "eight acht huit ocho otto oito восемь 八"),
    ("9", "nine neun neuf nueve nove negen девять 九"),
    ("10", "ten zehn dix diez dieci dez tien десять 十"),
    ("12", "twelve zwolf douze doce dodici twaalf noon midday mittag midi dozen"),
    ("20", "twenty zwanzig vingt veinte venti vinte twintig"),
    ("30", "thirty dreissig trente treinta trenta trinta dertig"),
    ("100", "hundred hundert cent cien cento honderd"),
];

/// Words that say when by the day on which they are said; a memory has the
/// date instead (L5.6).
const RELATIVE: &str = "today tonight tomorrow yesterday next coming ago until till since week weeks month \
    months days starting heute morgen ubermorgen gestern nachste* kommende* naechste* woche* monat* demain aujourd'hui aujourd prochain* \
    semaine* mois manana hoy ayer proxim* semana* domani oggi ieri prossim* settiman* mese amanha hoje vandaag volgende \
    overmorgen завтра сегодня послезавтра следующ* jutro 明天 后天 今天 下周 下个月 明日 来週 来月 明後日 내일 모레 다음";

const THINGS: &[&str] = &[
    "database db databases datenbank* base-de-donnees bdd donnees datos dati dados databank базы база базу 数据库 データベース 데이터베이스",
    "customer customers client clients kunde* kundin cliente* klant* клиент* 客户 顧客 고객",
    "invoice invoices rechnung* facture* factura* fattura* fatura* factuur facturen счет* 发票 請求書 청구서",
    "answer answers reply replies respond response responses antwort* reponse* repond* respuesta* respond* rispost* rispond* respost* antwoord* ответ* отвеча* 回答 回复 答え 答えて 답변 대답",
    "short brief concise terse kurz* knapp* courte courtes courts bref breve* corto corta cortas cortos conciso curto* kort* кратк* коротк* 简短 简洁 短く 短い 짧게 간결",
    "deploy deploys deployed deployment deployments deployen release releases released ausliefer* deploie* deploy* desplieg* despleg* rilasc* uitrol* выкат* депло* 部署 发布 デプロイ リリース 배포",
    "test tests tested testing teste* prueba* prova* testes тест* 测试 テスト 테스트",
    "branch branches zweig* branche* rama ramas ramo ветк* 分支 ブランチ 브랜치",
    "german deutsch* allemand* aleman* tedesc* alema duits* немецк* 德语 ドイツ語 독일어",
    "english englisch* anglais* ingles* inglese* engels* английск* 英语 英文 英語 영어 angielsk*",
    "french franzosisch* francais* frances* francese* frans* французск* 法语 フランス語",
    "spanish spanisch* espagnol* espanol* spagnol* espanhol* spaans* испанск* 西班牙语",
    "chinese chinesisch* chinois* chino* cinese* chines* китайск* 中文 中国語",
    "polish polnisch* polonais* polaco* polacc* pools* польск* polsk* 波兰语",
    "comment comments kommentar* commentaire* comentario* commento commenti reactie* комментари* 注释 コメント 주석",
    "team teams equipe* equipo* squadra команд* 团队 チーム 팀",
    "server servers serveur* servidor* сервер* 服务器 サーバー 서버",
    "password passwords passwort* kennwort* mot-de-passe contrasena* senha* wachtwoord* парол* 密码 パスワード",
    "access accesses zugriff* zugang* acces acceso* accesso accessi acesso* toegang доступ* 访问 权限",
    "log logs protokoll* journal* registro* логи* 日志 ログ 로그",
    "report reports bericht* rapport* informe informes reporte* relatorio* verslag отчет* 报告 レポート 보고서",
    "table tables tabelle* tabla* tabella tabelle tabela* tabel таблиц* 表",
    "limit limits grenze* limite* limiet лимит* 限制 上限 制限",
    "message messages nachricht* mensaje* messaggi* mensagen* mensagem bericht сообщени* 消息 メッセージ 메시지",
    "second seconds sekunde* seconde* segundo* secondo secondi секунд* 秒 초",
    "minute minutes minuten minuto* minuti минут* 分钟 分 분",
    "hour hours stunde* heure* hora* ora ore uur час* 小时 時間 시간",
    "year years jahr* an ans annee* ano* anno anni jaar год* лет 年 년",
    "block blocks blocked blockier* bloque* blocc* bloqueia* blokke* блокир* 封 ブロック",
    "account accounts konto* compte* cuenta* conta contas rekening аккаунт* 账号 账户 アカウント 계정",
    "delete deletes deleted remove removed losch* supprim* borra* elimin* apaga* verwijder* удал* 删除 削除 삭제",
    "change changes changed modify modified edit edited ander* anderung* modif* cambi* wijzig* измен* 修改 更改 変更 변경",
    "explain explains erklar* expliqu* explica* spieg* uitleg* объясн* 解释 説明 설명",
    "meeting meetings besprechung* termin* treffen reunion* riunion* reuniao vergadering* встреч* 会议 会議 회의",
    "vacation holiday urlaub* vacance* vacacion* vacanz* ferias vakantie отпуск* 休假 休暇 휴가",
    "developer developers engineer engineers entwickler* developpeur* desarrollador* sviluppator* desenvolvedor* ontwikkelaar* разработчик* 开发者 开发人员 開発者 개발자",
    "customer-review review reviews revision* revue* revisione resena ревью 评审 レビュー 리뷰",
    "demo demos vorfuhrung* demostracion* dimostrazione демо 演示 デモ 데모",
    "morning morgens vormittag* matin* mattina manha ochtend утр* 早上 上午 朝 아침",
    "evening night abend* nacht* soir* nuit* noche* sera notte noite avond* вечер* ноч* 晚上 夜 夜间 저녁 밤",
    "file files datei* fichier* archivo* arquivo* bestand bestanden файл* 文件 ファイル 파일",
    "folder directory ordner* verzeichnis* dossier* carpeta* cartella pasta map папк* 目录 フォルダ 폴더",
    "code quellcode codigo codice код* 代码 コード 코드",
    "function functions funktion* fonction* funcion* funzion* funcao functie* функци* 函数 関数 함수",
    "space spaces leerzeichen espace* espacio* spazi* espaco* spatie* пробел* 空格 スペース 공백",
    "number numbers nummer* numero* номер* 号码 编号 番号 번호",
    "audit audits prufung* auditoria* controle аудит* 审计 監査 감사",
    "coverage testabdeckung abdeckung couverture cobertura copertura dekking покрыти* 覆盖率 カバレッジ",
    "migrate migration migrations migrated migrier* migrer* migrar migren migraz* migratie* миграци* 迁移 移行 마이그레이션",
    "supplier provider vendor lieferant* anbieter* fournisseur* proveedor* fornitore fornecedor leverancier* поставщик* 供应商 業者",
    "mail email e-mail correo courriel почт* 邮件 メール 이메일",
    "key keys schlussel* cle cles clave* chiave chiavi chave* sleutel* ключ* 密钥 キー 키",
    "colour color colors colours farbe* couleur* color* colore kleur* цвет* 颜色 色 색",
    "red rot rote* rouge* rojo* rosso rood красн* 红 赤 빨간",
    "green grun* vert verts verte vertes verde* groen зелен* 绿 緑 초록",
    "language languages sprache* langue* idioma* lingua taal язык* 语言 言語 언어",
    "vegetarian vegetarier* vegetarisch* vegetarien* vegetarian* 素食 ベジタリアン",
    "daughter tochter fille hija figlia filha dochter доч* 女儿 娘 딸",
    "son sohn fils hijo figlio filho zoon сын* 儿子 息子 아들",
    "investor investors investisseur* inversor* investitor* investidor* инвестор* 投资人 投資家",
    "risky risk risks riskant* risiko* risqu* riesg* rischi* risco* рискован* 风险 リスク",
    "host hosts hoste* rechner хост* 主机 ホスト",
    "staging stage preprod vorproduktion 预发 预发布 ステージング",
    "production prod produktion* produccion* produzione producao productie продакшн* 生产 线上 本番 프로덕션",
    "merge merges merged zusammenfuhr* fusionn* fusion* слия* 合并 マージ 병합",
    "approve approves approved approval genehmig* freigab* freigeb* approuv* aprueb* aprob* approv* aprov* goedkeur* одобр* 批准 审批 承認 승인",
    "owner owns responsible verantwortlich* zustandig* responsable* encarg* gere gerer gestion* responsabile* responsavel verantwoordelijk* ответствен* 负责 担当 담당",
    "prefer prefers preference lieber bevorzug* prefer* preferisc* liever предпочит* 喜欢 偏好 好き 선호",
    "build builds bauen gebaut construir compil* сборк* 构建 编译 ビルド 빌드",
    "backup backups sicherung* sauvegarde* copia-de-seguridad respaldo* резервн* 备份 バックアップ 백업",
    "tab tabs tabulator* tabulation* tabulaci* таб* 制表符 タブ 탭",
    "expire expires expired ablauf* lauft-ab expir* caduc* vence* scad* verloopt истека* 过期 期限 만료",
    // Their stems differ otherwise.
    "add adds added adding addition",
    "run runs ran running",
    "send sends sent sending",
    "analyst analysts analytiker* analyst* analyste* analista* аналитик* 分析师 アナリスト 분석가",
    "maintenance wartung* maintenance mantenimiento manutenzione manutencao onderhoud обслуживани* 维护 メンテナンス 점검",
];

struct Tables {
    exact: BTreeMap<&'static str, String>,
    endings: Vec<(&'static str, String)>,
    /// Words of scripts without spaces, found within a text.
    within: Vec<(&'static str, String)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { exact: BTreeMap::new(), endings: Vec::new(), within: Vec::new() };
    for row in DAYS.iter().chain(THINGS) {
        let first = row.split(' ').next().unwrap_or_default();
        let stem = stems(first).pop_first().unwrap_or_else(|| first.to_owned());
        for word in row.split(' ') {
            if let Some(start) = word.strip_suffix('*') {
                tables.endings.push((start, stem.clone()));
            } else if word.chars().any(|sign| u32::from(sign) >= 0x1100) {
                tables.within.push((word, stem.clone()));
            } else {
                tables.exact.insert(word, stem.clone());
            }
        }
    }
    tables
});

/// What a folded word stands for, by its English stem.
pub(super) fn meaning(word: &str) -> Option<&'static str> {
    let tables = &*TABLES;
    if let Some(stem) = tables.exact.get(word) {
        return Some(stem);
    }
    tables.endings.iter().find(|(start, _)| word.starts_with(start)).map(|(_, stem)| stem.as_str())
}

/// What words of a text without spaces stand for.
pub(super) fn meanings(text: &str) -> impl Iterator<Item = &'static str> {
    let wide = text.chars().any(|sign| u32::from(sign) >= 0x1100);
    let all = TABLES.within.iter().filter(move |_| wide);
    all.filter(move |(word, _)| text.contains(word)).map(|(_, stem)| stem.as_str())
}

/// Whether a stem names a day of the week or a month.
pub(super) fn is_day(stem: &str) -> bool {
    static STEMS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let first = |row: &&str| stems(row.split(' ').next().unwrap_or_default()).pop_first();
        DAYS.iter().filter_map(first).collect()
    });
    STEMS.iter().any(|day| day == stem)
}

/// The number that a folded word says.
pub(super) fn number(word: &str) -> Option<&'static str> {
    let says = |(_, words): &&(&str, &str)| words.split(' ').any(|known| known == word);
    NUMBERS.iter().find(says).map(|(number, _)| *number)
}

/// Whether a folded text says when by the day on which it is said.
pub(super) fn is_relative(text: &str) -> bool {
    let mut words = text.split(|sign: char| !sign.is_alphanumeric());
    let (wide, plain): (Vec<&str>, Vec<&str>) = RELATIVE
        .split_whitespace()
        .partition(|word| word.chars().any(|sign| u32::from(sign) >= 0x1100));
    wide.iter().any(|word| text.contains(word))
        || words.any(|word| {
            plain.iter().any(|known| match known.strip_suffix('*') {
                Some(start) => word.starts_with(start),
                None => *known == word,
            })
        })
}
