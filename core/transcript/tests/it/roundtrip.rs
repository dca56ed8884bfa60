//! What is written comes back (Q4, L1.5).

use everfold_kernel::models::Usd;
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::record::{AppliedEdit, Breakpoint, Keeps};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Attachment, Block, BlockProvenance, Boundary, Decision, Entry, Params, Prelude,
    Record, RecordId, SystemBlock, Tokens, Usage, UserEntry, UserOrigin,
};
use everfold_transcript::{Decoded, Envelope, Side, decode, encode, fork};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn id() -> impl Strategy<Value = RecordId> {
    "[0-9a-f]{4,8}".prop_map(RecordId::from)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z_]{1,8}|type|data|everfoldData", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn map() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-zA-Z]{1,8}|type|anchorUuid", value()), 0..4)
        .prop_map(|fields| fields.into_iter().collect())
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        any::<String>().prop_map(Block::text),
        any::<String>()
            .prop_map(|text| { Block::from_value(json!({"text": text, "type": "text"})).unwrap() }),
        ("[a-z0-9]{1,5}", value()).prop_map(|(id, value)| Block::tool_result(&id.into(), value)),
        ("[a-z0-9]{1,5}", value()).prop_map(|(id, value)| Block::tool_use(
            &id.into(),
            "Bash",
            value
        )),
        map().prop_map(|fields| Block::from_value(Value::Object(fields)).unwrap()),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 6]>().prop_map(|[input, cache_read, five, hour, output, searches]| Usage {
        input,
        cache_read,
        cache_write_5m: five,
        cache_write_1h: hour,
        output,
        web_searches: searches,
    })
}

fn whose() -> impl Strategy<Value = Provenance> {
    let carriers = vec![None, Some(Carrier::Memory), Some(Carrier::Summary), Some(Carrier::Agent)];
    (prop::sample::select(Source::ALL.to_vec()), prop::sample::select(carriers))
        .prop_map(|(source, carrier)| Provenance { source, carrier })
}

/// Nothing, one for all of a block, or parts; one part alone reads as the first.
fn block_provenance() -> impl Strategy<Value = BlockProvenance> {
    let parts = prop::collection::vec((1_usize..40, whose()), 2..5);
    prop_oneof![
        Just(BlockProvenance::default()),
        whose().prop_map(BlockProvenance::whole),
        parts.prop_filter_map("one part", |parts| {
            let mut end = 0;
            let parts = parts.into_iter().map(|(more, whose)| {
                end += more;
                (end, whose)
            });
            let own = BlockProvenance::parts(parts);
            (own.split(&"x".repeat(200)).count() > 1).then_some(own)
        }),
    ]
}

fn user() -> impl Strategy<Value = Entry> {
    let origin = prop::sample::select(vec![
        UserOrigin::Human,
        UserOrigin::ToolResult,
        UserOrigin::Meta,
        UserOrigin::CompactSummary,
    ]);
    let content = prop::collection::vec((block(), block_provenance()), 0..3);
    (content, origin, prop::option::of(value())).prop_map(|(content, origin, tool_use_result)| {
        let (content, provenance): (Vec<_>, Vec<_>) = content.into_iter().unzip();
        let unknown = provenance.iter().all(BlockProvenance::is_unknown);
        let provenance = if unknown { Vec::new() } else { provenance };
        Entry::User(UserEntry { content, origin, tool_use_result, provenance })
    })
}

fn assistant() -> impl Strategy<Value = Entry> {
    (
        "[a-z0-9_]{0,9}",
        prop::option::of("[a-z0-9]{0,9}"),
        any::<u32>(),
        block(),
        usage(),
        prop::option::of(any::<String>()),
    )
        .prop_map(|(message, request, index, block, usage, stop_reason)| {
            Entry::Assistant(AssistantEntry {
                message_id: message.into(),
                request_id: request.map(Into::into),
                model: "some-model".into(),
                index,
                block,
                usage,
                stop_reason,
            })
        })
}

fn attachment() -> impl Strategy<Value = Entry> {
    (any::<String>(), any::<String>(), value(), prop::option::of(whose())).prop_map(
        |(kind, rendered, data, provenance)| {
            Entry::Attachment(Attachment { kind, rendered, data, provenance })
        },
    )
}

fn decision() -> impl Strategy<Value = Entry> {
    let prelude =
        (any::<String>(), prop::collection::vec(value(), 0..3)).prop_map(|(text, tools)| {
            let mut params = Params::new("m[1m]", 7);
            params.thinking = Some(json!({"type": "adaptive"}));
            params.betas = vec!["b".into()];
            params.context_management = Some(json!({"edits": [{"type": "x"}]}));
            let breakpoint = Breakpoint::Here;
            Decision::Prelude(Box::new(Prelude {
                system: vec![SystemBlock { text, breakpoint }],
                tools,
                params,
            }))
        });
    let source = prop::sample::select(vec!["main", "recall", "agent:explore", "compact"]);
    let booked =
        (source, usage(), prop::option::of(0.0..1e3_f64)).prop_map(|(source, usage, cost)| {
            Decision::Booked(Booking {
                source: source.parse().unwrap(),
                model: "m".into(),
                usage,
                cost: cost.map(Usd),
            })
        });
    let retracted = any::<(String, String)>()
        .prop_map(|(message, reason)| Decision::Retracted { message_id: message.into(), reason });
    let cleared = (any::<String>(), any::<u64>(), any::<Option<u64>>()).prop_map(
        |(kind, tokens, cleared_tool_uses)| {
            let cleared_input_tokens = Tokens(tokens);
            let cleared_thinking_turns = None;
            let edit = AppliedEdit {
                kind,
                cleared_input_tokens,
                cleared_tool_uses,
                cleared_thinking_turns,
            };
            Decision::ServerCleared { edits: vec![edit] }
        },
    );
    prop_oneof![prelude, booked, retracted, cleared].prop_map(Entry::Decision)
}

fn boundary() -> impl Strategy<Value = Entry> {
    (
        "auto|manual",
        any::<u64>(),
        prop::option::of(id()),
        prop::collection::vec(id(), 0..3),
        prop::bool::ANY,
        map(),
    )
        .prop_map(|(trigger, pre_tokens, last_before, preserved, prefix, metadata)| {
            Entry::Boundary(Boundary {
                trigger,
                pre_tokens,
                last_before,
                preserved,
                keeps: if prefix { Keeps::Prefix } else { Keeps::Suffix },
                metadata,
            })
        })
}

fn record() -> impl Strategy<Value = Record> {
    let entry = prop_oneof![user(), assistant(), attachment(), decision(), boundary()];
    let time = -60_000_000_000_000..250_000_000_000_000_i64;
    (id(), prop::option::of(id()), time, entry).prop_map(|(id, parent, at, entry)| Record {
        id,
        parent,
        at: Timestamp::from_millisecond(at).unwrap(),
        entry,
    })
}

fn envelope() -> impl Strategy<Value = Envelope> {
    (
        any::<(String, String)>(),
        prop::option::of("[a-z]{1,9}"),
        prop::option::of(id()),
        prop::option::of(prop::option::of("[a-f0-9]{1,9}")),
    )
        .prop_map(|((cwd, version), branch, source, agent)| {
            let mut envelope = Envelope::new("s-1".into(), cwd, version);
            envelope.git_branch = branch;
            envelope.source_tool_assistant = source;
            envelope.side = agent.map_or(Side::Main, Side::Agent);
            envelope
        })
}

proptest! {
    #[test]
    fn l5_33_records_keep_whose_words_they_hold(record in record(), copy in id()) {
        let envelope = Envelope::new("s-1".into(), "/", "0");
        let records = [record];
        let fork = fork(&records, &"s-1".into(), &envelope, &mut || copy.to_string());
        for line in [encode(&records[0], &envelope), fork.lines[0].clone()] {
            let Decoded::Record(read) = decode(line.as_bytes()).unwrap() else {
                panic!("{line}");
            };
            match (&read.record.entry, &records[0].entry) {
                (Entry::User(read), Entry::User(own)) => {
                    prop_assert_eq!(&read.provenance, &own.provenance);
                }
                (Entry::Attachment(read), Entry::Attachment(own)) => {
                    prop_assert_eq!(read.provenance, own.provenance);
                }
                (Entry::Assistant(own), _) => {
                    prop_assert!(line.contains(&format!("[\"{}\"]", own.provenance())), "{}", line);
                }
                _ => prop_assert!(!line.contains("\"provenance\"")),
            }
        }
    }

    #[test]
    fn q4_every_record_comes_back_as_it_was_written(record in record(), envelope in envelope()) {
        let line = encode(&record, &envelope);
        prop_assert!(!line.contains('\n'));
        let Decoded::Record(read) = decode(line.as_bytes()).unwrap() else {
            panic!("{line}");
        };
        prop_assert_eq!(&read.record, &record, "{}", line);
        prop_assert!(read.rest.is_empty());
        prop_assert!(read.facts.gaps.is_empty());
        prop_assert_eq!(&read.facts.side, &envelope.side);
        prop_assert_eq!(&read.facts.git_branch, &envelope.git_branch);
        prop_assert_eq!(read.facts.session.as_ref(), Some(&envelope.session));
        prop_assert_eq!(encode(&read.record, &envelope), line);
    }

    #[test]
    fn q4_a_line_of_an_unknown_kind_comes_back_whole(
        mut fields in map(), id in id(), parent in prop::option::of(id()),
        kind in "[a-z-]{1,12}", subtype in prop::option::of("[a-z]{1,3}|everfold_[a-z]{1,4}"),
    ) {
        prop_assume!(!["user", "assistant", "attachment", "progress"].contains(&kind.as_str()));
        let kind = if subtype.is_some() { "system" } else { &kind };
        fields.insert("type".into(), kind.into());
        if let Some(subtype) = subtype {
            fields.insert("subtype".into(), subtype.into());
        }
        fields.insert("uuid".into(), id.as_str().into());
        fields.insert("parentUuid".into(), parent.as_ref().map(RecordId::as_str).into());
        fields.insert("timestamp".into(), "2026-01-02T03:04:05.678Z".into());
        let whole = Value::Object(fields);
        let Decoded::Record(read) = decode(whole.to_string().as_bytes()).unwrap() else {
            panic!("{whole}");
        };
        prop_assert_eq!(&read.record.entry, &Entry::Opaque(whole.clone()));
        prop_assert_eq!(&read.record.parent, &parent);
        let line = encode(&read.record, &Envelope::new("s".into(), "/", "0"));
        prop_assert_eq!(line, whole.to_string());
    }

    #[test]
    fn q4_unknown_fields_are_never_an_error(record in record(), extra in map()) {
        let line = encode(&record, &Envelope::new("s".into(), "/", "0"));
        let mut fields: Map<String, Value> = serde_json::from_str(&line).unwrap();
        for (key, value) in extra {
            fields.entry(format!("x-{key}")).or_insert(value);
        }
        let Decoded::Record(read) = decode(Value::Object(fields).to_string().as_bytes()).unwrap()
        else {
            panic!("{line}");
        };
        prop_assert_eq!(read.record, record);
    }
}
