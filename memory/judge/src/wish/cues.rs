//! The words by which people ask to keep something, in the languages of R15.
//!
//! Phrases in lower case, `|` between them; see [`crate::phrase`].

use crate::phrase::phrases;

phrases! {
    /// A wish to remember, whatever follows.
    CUES = [
        "remember|don't forget|do not forget|never forget|keep in mind|keep this in mind|keep that in mind|keep it in mind|bear in mind|bear this in mind|have in mind",
        "note for later|note for the future|note for next time|note to self|note to memory|make a note|make a mental note|make note|take a note|take note|note down|note this down|write this down for later|jot down|jot this down|note this|note that down|note it down",
        "for the record|for future reference|for the future|for next time|for later reference",
        "add to memory|add this to memory|add that to memory|add it to memory|add to your memory|add this to your memory|add that to your memory|add to the memory|add a memory|create a memory|save a memory|write a memory|make a memory|new memory|memory:|memory note|memo:|memo to self",
        "write to memory|write this to memory|write it to memory|save to memory|save this to memory|save that to memory|save it to memory|save to your memory|save this to your memory|save in memory|save this in memory|save in your memory|save for later|save this for later|save this as a memory",
        "store in memory|store this in memory|store to memory|store in your memory|store this in your memory|put in memory|put this in memory|put in your memory|put this in your memory|commit to memory|commit this to memory|update your memory|update memory|add to your notes|add this to your notes|for your notes",
        "memorise|memorize|memorise this|memorize this|don't let me forget|do not let me forget|lest we forget",
        "merk dir|merke dir|merk's dir|merk es dir|merkt euch|merken sie sich|bitte merken|denk daran|denk dran|denke daran|denke dran|denken sie daran|vergiss nicht|vergiss bitte nicht|vergiss nie|nicht vergessen|vergesst nicht|vergessen sie nicht|behalte im kopf|behalt im kopf|behalte im hinterkopf|behalt im hinterkopf|behalte in erinnerung",
        "notier dir|notiere dir|notiere|notier|notiz für später|notiz für die zukunft|notiz an mich|notiz:|zur erinnerung|fürs protokoll|für später|für die akten|speicher dir|speichere dir|speichere im gedächtnis|schreib dir auf|schreib dir das auf|halte fest|halt fest|ins gedächtnis|nimm ins gedächtnis auf|füge zum gedächtnis hinzu",
        "note pour plus tard|note pour la suite|note pour le futur|note à toi-même|retiens|retiens bien|retenez|souviens-toi|souviens toi|souvenez-vous|rappelle-toi|rappelle toi|rappelez-vous|n'oublie pas|n'oubliez pas|n'oublie jamais|garde en tête|gardez en tête|garde à l'esprit|gardez à l'esprit|garde en mémoire|gardez en mémoire|mémorise|mémorisez|à retenir|prends note|prenez note|note bien|notez bien|ajoute à la mémoire|ajoute à ta mémoire|ajoute en mémoire|enregistre en mémoire|mets en mémoire|pour mémoire|pour la prochaine fois",
        "acuérdate|acordate|recuerda|recuerde|recordá|recuerden|ten en cuenta|tené en cuenta|tenga en cuenta|ten presente|ten en mente|no olvides|no olvide|no te olvides|no se te olvide|apunta|apúntate|anota|anótate|toma nota|nota para después|nota para luego|nota para más tarde|nota para el futuro|memoriza|guarda en memoria|guarda en la memoria|guarda en tu memoria|guarda esto en memoria|guarda esto|agrega a la memoria|añade a la memoria|añade a tu memoria|para que conste|para la próxima",
        "ricordati|ricorda|ricordatevi|ricordate|si ricordi|tieni a mente|tenete a mente|tieni presente|tieni in mente|tieni conto|non dimenticare|non dimenticarti|non scordare|non scordarti|annota|annotati|prendi nota|nota per dopo|nota per il futuro|memorizza|aggiungi alla memoria|salva in memoria|salva nella memoria|segnati|segna che|per la cronaca|per la prossima volta",
        "lembra disso|lembra|lembra-te|lembra-te disto|lembre-se|lembre-se disso|lembre|lembrem-se|não esqueça|não esqueças|não se esqueça|não te esqueças|não esquece|não se esquece|não esquecer|tenha em mente|tem em mente|tenha em conta|tem em conta|anota|anote|anota aí|toma nota|tome nota|nota para depois|nota para mais tarde|memoriza|memorize|guarda na memória|guarde na memória|adiciona à memória|adicione à memória|grava na memória|salva na memória|salve na memória|guarda isto|guarda isso|para que conste|para a próxima",
        "onthoud|onthoudt|onthou|vergeet niet|vergeet nooit|niet vergeten|hou in gedachten|houd in gedachten|hou in je achterhoofd|houd in je achterhoofd|hou er rekening mee|houd er rekening mee|noteer|schrijf op|notitie voor later|denk eraan|denk er aan|denk erom|sla op in je geheugen|zet in je geheugen|voeg toe aan het geheugen|voeg toe aan je geheugen|ter herinnering|voor later|voor de volgende keer",
        "kom ihåg|glöm inte|glöm aldrig|ha i åtanke|ha i minnet|tänk på att|håll i minnet|lägg på minnet|notera|anteckna|spara i minnet|lägg till i minnet|för framtiden",
        "husk|glem ikke|ikke glem|glem aldri|glem aldrig|hav i tankerne|hav in mente|ha i bakhodet|ha i tankene|noter|notér|skriv ned|merk deg|legg merke til|gem i hukommelsen|tilføj til hukommelsen|lagre i minnet|legg til i minnet|til senere",
        "muista|muistathan|älä unohda|pidä mielessä|paina mieleen|laita muistiin|merkitse muistiin|kirjaa muistiin|tallenna muistiin|lisää muistiin|muistiinpano|muistutukseksi",
        "запомни|запомните|помни|помните|не забудь|не забывай|не забудьте|не забывайте|имей в виду|имейте в виду|учти|учтите|заметка на будущее|запиши|запишите|на заметку|сохрани в память|добавь в память|на будущее|держи в уме|возьми на заметку",
        "unutma|unutmayın|hatırla|hatırında tut|aklında tut|aklında bulunsun|aklında olsun|aklınızda bulunsun|not al|not et|hafızaya kaydet|hafızana kaydet|hafızaya ekle|hafızana ekle|belleğe kaydet|belleğe ekle|ezberle",
        "zapamiętaj|pamiętaj|pamiętajcie|nie zapomnij|nie zapominaj|miej na uwadze|miej w pamięci|zanotuj|zapisz sobie|zapisz w pamięci|dodaj do pamięci|notatka na później|na przyszłość|weź pod uwagę",
        "jegyezd meg|jegyezd fel|emlékezz|ne felejtsd el|ne feledd|tartsd észben|vedd figyelembe|ține minte|amintește-ți|nu uita|reține|notează|ai în vedere",
        "θυμήσου|να θυμάσαι|μην ξεχάσεις|μην ξεχνάς|κράτα στο μυαλό|σημείωσε|έχε υπόψη|تذكر|تذكّر|لا تنس|لا تنسى|احفظ|ضع في اعتبارك|ضع في بالك|خذ بعين الاعتبار",
        "pamatuj si|pamatuj|zapamatuj si|nezapomeň|měj na paměti|poznamenej si|запам'ятай|пам'ятай|не забудь|май на увазі|hãy nhớ|nhớ rằng|đừng quên|ghi nhớ|jangan lupa|ingat bahwa|ingat:|catat:|याद रखो|याद रखना|याद रखें",
        "记住|记好|别忘了|不要忘了|不要忘记|别忘记|记得|记一下|记下来|记下|牢记|备忘|加入记忆|加到记忆|保存到记忆|存到记忆|添加到记忆|記住|別忘了|不要忘記|記得|記下|備忘",
        "覚えておいて|覚えといて|おぼえておいて|おぼえといて|覚えてください|覚えて下さい|覚えてね|忘れないで|忘れずに|記憶して|記憶しておいて|メモして|メモしておいて|メモ:|メモ：|念頭に置いて|頭に入れて|記録しておいて|メモリに保存|メモリに追加|記憶に追加",
        "기억해|기억하세요|기억하도록|기억하고|잊지 마|잊지마|잊지 말|명심해|명심하|메모해|메모하|기록해|외워|메모리에 저장|메모리에 추가|염두에 둬|염두에 두",
    ];
    /// Of note, but perhaps for this task alone.
    WEAK = [
        "note that|note:|note,|please note|please note that|nb|n.b.|take into account|be aware|be aware that|mind that",
        "beachte|bitte beachten|beachte dass|note que|notez que|let op|obs|注意|请注意|請注意|注意して|注意点|주의",
    ];
    /// Polite words and joints in front of a wish.
    LEAD = [
        "please|pls|plz|kindly|ok|okay|k|hey|hi|hello|and|also|btw|by the way|oh|oh and|ah|so|şunu|bunu|şunları|bunları|это|but|well|yes|yeah|yep|right|alright|cool|great|good|thanks|thank you|then|anyway|actually|just|fyi|ps|p.s.|again|as always|always|never|now|perfect|nice|sure|one more thing|one thing|another thing|first|firstly|finally|lastly|quick note|important|importantly|reminder|assistant|claude|agent|dude|mate|guys|sorry|wait",
        "can you|could you|would you|will you|can u|could u|can you please|could you please|would you please|would you mind to|you should|you must|you need to|you have to|you can|i want you to|i'd like you to|i would like you to|i need you to|make sure to|make sure you|be sure to|try to|let's|let us|it's important to|do|we should|we need to|we must",
        "bitte|und|auch|ach|achso|übrigens|also|aber|ja|gut|danke|noch|noch was|noch eins|außerdem|dann|kannst du|könntest du|kannst du bitte|könntest du bitte|du sollst|hallo|klar|mal|wichtig",
        "s'il te plaît|s'il vous plaît|stp|svp|et|aussi|au fait|mais|donc|oui|bon|merci|ensuite|peux-tu|tu peux|pourrais-tu|salut|bonjour|d'accord|ah|alors",
        "por favor|porfa|y|también|por cierto|pero|entonces|sí|vale|bueno|gracias|puedes|podrías|hola|además|luego|ah",
        "per favore|per piacere|e|anche|comunque|ma|quindi|sì|va bene|bene|grazie|puoi|potresti|ciao|inoltre|poi",
        "e|também|aliás|mas|então|sim|certo|obrigado|obrigada|pode|podes|poderia|olá|oi|além disso|se faz favor",
        "alsjeblieft|graag|aub|svp|en|ook|trouwens|maar|dus|ja|oké|goed|bedankt|kun je|kan je|wil je|hoi|even",
        "snälla|vänligen|och|också|förresten|men|så|ja|tack|kan du|hej|venligst|og|også|forresten|i øvrigt|tak|takk|vær så snill|vil du",
        "ole hyvä|ja|myös|muuten|mutta|kiitos|voisitko|voitko|hei|пожалуйста|и|также|кстати|но|да|ладно|хорошо|спасибо|а|ещё|еще|можешь|так|lütfen|ve|ayrıca|bu arada|ama|evet|tamam|teşekkürler|proszę|oraz|także|też|a tak przy okazji|ale|tak|dobra|dzięki|no|kérlek|és|te rog|și|παρακαλώ|και|من فضلك|و",
        "请|請|请你|麻烦|麻烦你|另外|还有|對了|对了|好的|好|也|并且|并|而且|你要|你|帮我|一定要|また|それと|あと|ちなみに|はい|それから|그리고|참고로|꼭|부디|아|네",
    ];
    /// After which a wish stands in one sentence with what came before.
    JOINT = [
        "and|also|but|so|then|please|pls|und|aber|bitte|et|mais|y|pero|e|ma|mas|en|maar|och|men|og|ja|mutta|и|но|а|ve|ama|oraz|ale",
    ];
    /// After the words of a wish, and no part of it.
    AFTER = [
        "that|please|pls|plz|globally|everywhere|forever|permanently|for later|for next time|for the future|for future reference|to memory|in memory|somewhere|also|this for later|this for next time|this for the future|it for later|down|going forward|from now on that",
        "dass|daß|bitte|mal|doch|noch|auch|für später|für die zukunft|fürs nächste mal|que|qu'|bien|s'il te plaît|s'il vous plaît|stp|svp|pour plus tard|pour la suite|pour la prochaine fois|de que|por favor|también|para después|para luego|para el futuro|para la próxima",
        "che|per favore|per dopo|per il futuro|anche|disso|se faz favor|de que|para depois|para mais tarde|aí|dat|even|alsjeblieft|aub|ook|voor later|goed|att|snälla|också|till senare|at|også|til senere|venligst|että|myös|jatkossa|что|пожалуйста|на будущее|также|то что|ki|lütfen|şunu|şunları|że|proszę|o tym że|to że|na przyszłość|sobie|hogy|că|ότι|أن|أنّ|rằng|bahwa",
        "一下|了|吧|哦|啊|下来|下|以后|ください|下さい|ね|よ|くださいね|줘|주세요|둬|줘요|세요|두세요|해 줘|해줘",
    ];
    /// Stands for what follows, where a mark comes next.
    POINTER = [
        "this|that|it|these|the following|following|something|one thing|this one|this about me|these things|these rules|this rule|this please|das|dies|es|folgendes|diese regel|ça|ceci|cela|cette règle|ce qui suit|esto|eso|lo siguiente|esta regla|questo|quanto segue|ciò|isso|isto|o seguinte|dit|het volgende|deze regel|det|detta|dette|følgende|följande|tämä|seuraava|это|следующее|вот что|bunu|şunu|to|następujące|这|这个|这点|这一点|以下|這|これ|次のこと|以下のこと|이거|이것|다음",
    ];
    /// Begins a bound that a wish names for itself: "for all my projects:".
    REACH = [
        "for|in|across|on|about|from|für|in|bei|ab|pour|dans|sur|para|en|sobre|per|em|sobre|voor|bij|över|för|i|for|på|для|на|во|в|dla|w|we|na|kaikissa|关于|对于|在",
    ];
    /// A wish that has these words next to it is none: it looks back or asks.
    NO_WISH = [
        "when|the time|the days|the good|how|what|why|who|which|whether|if|last time|back when|me|those days|that time|that one time|anything|nothing|correctly|the name|our conversation|our chat|where|you|everything|fondly|to breathe",
        "was|wann|wie|warum|wer|wo|ob|als wir|quand|comment|pourquoi|qui|si|cuando|cómo|quién|si|quando|come|cosa|chi|como|wat|wanneer|hoe|toen|när|hur|vad|når|da vi|hvordan|hva|hvad|kun|miten|mitä|когда|как|кто|почему|ne zaman|neden|kiedy|jak|kto|dlaczego|吗|嗎|什么时候|为什么|上次|ますか|나요",
    ];
    /// Politely asked, and yet an order.
    ASKED = [
        "can you|could you|would you|will you|can u|could u|kannst du|könntest du|peux-tu|tu peux|pourrais-tu|puedes|podrías|puoi|potresti|pode|podes|poderia|kun je|kan je|wil je|kan du|vil du|voitko|voisitko|можешь|możesz|czy możesz|ok?|okay?|right?|please?|ok ?|alright?|ja?|vale?|va bene?|d'accord?|好吗|好嗎|吗？",
    ];
    /// Said of what is left undone: more often a task than a memory.
    FORGET = [
        "forget*|vergiss*|vergess*|n'oubli*|olvid*|dimentic*|scordar*|esque*|vergeet*|vergeten|glem*|glöm*|unohda*|забуд*|забыв*|unutma*|zapomn*|zapomin*|忘*|잊*",
    ];
    /// Words of a wish that stand at the end of its sentence.
    LAST = [
        "unutma*|hatırla*|aklında*|aklınızda*|not al|not et|hafıza*|belle*|याद*|don't let me forget|do not let me forget|muistiin",
    ];
    /// Begins a clause that a wish depends on.
    CLAUSE = [
        "when|if|whenever|before|after|for|in|on|with|unless|wenn|bevor|nach|für|bei|in|quand|si|avant|pour|dans|cuando|si|antes|para|en|se|quando|prima|per|nel|em|no|na|als|voordat|voor|bij|när|innan|för|når|før|jos|kun|если|когда|перед|для|kiedy|jeśli|przed|dla|w",
    ];
    /// The infinitive that makes a wish a task.
    TO = ["to|zu|att"];
    /// The same where it is an article elsewhere: an infinitive has to follow.
    OF = ["de|di"];
    /// Wishes that a Polish "i" joins to what is before; in English it is a person.
    POLISH = ["pamiętaj*|zapamiętaj|nie zapomnij|nie zapominaj|zanotuj|zapisz"];
}
