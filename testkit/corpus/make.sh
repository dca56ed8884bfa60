#!/usr/bin/env bash
# Makes the corpus of one version: everything that a program of that version
# writes, and what it says about it.
#
#   testkit/corpus/make.sh <everfold> <everfold-testkit> [<folder>]
#
# It works in /tmp/everfold-corpus alone, so that the paths in the files are the
# same on every machine, and talks to nothing but its own server on loopback.
set -euo pipefail

usage="usage: make.sh <everfold> <everfold-testkit> [<folder>]"
program=$(realpath "${1:?$usage}")
testkit=$(realpath "${2:?$usage}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$("$program" --version | cut -d' ' -f2)
corpus=${3:-$here/$version}
root=/tmp/everfold-corpus
home=$root/home/.everfold
project=$root/project
slug=-tmp-everfold-corpus-project
server=

# Ids that are the same in every run.
main=0192f0c1-0000-7000-8000-000000000001
rewound=0192f0c1-0000-7000-8000-000000000002
stopped=0192f0c1-0000-7000-8000-000000000003
kept=0192f0c1-0000-7000-8000-000000000004
ada=0192f0c1-0000-7000-8000-000000000005
bob=0192f0c1-0000-7000-8000-000000000006
cleared=0192f0c1-0000-7000-8000-000000000007
varied=0192f0c1-0000-7000-8000-000000000008
forked=0192f0c1-0000-7000-8000-000000000009
hosted=0192f0c1-0000-7000-8000-00000000000a

cleanup() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
}
trap cleanup EXIT

# The program in an environment of its own.
run() {
    env -i HOME=$root/home PATH="$PATH" TZ=UTC LANG=C.UTF-8 TERM=dumb \
        EVERFOLD_LIMIT_RETRY_BASE_MS=1 EVERFOLD_LIMIT_RETRY_MAX_MS=2 \
        EVERFOLD_FLAG_SESSION_MEMORY=0 EVERFOLD_FLAG_EXTRACT="${extract:-0}" \
        ${url:+ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=sk-test-0123456789abcdef} \
        ${more:-} ${wrap:-} $root/bin/everfold "$@"
}

# Starts the server with a scenario; `run` talks to it until `offline`.
serve() {
    cp "$here/parts/$1" $root/scenario.json
    "$testkit" serve $root/scenario.json >$root/server.log &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/^listening on //p' $root/server.log)
        if [ -n "$url" ]; then return; fi
        sleep 0.1
    done
    echo "the server did not start" >&2
    exit 1
}

offline() {
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
    url=
}

add() { # name, type, description, scope; the text is read
    run memory add --name "$1" --type "$2" --description "$3" --scope "$4"
}

hook() { # event, more fields
    jq -nc --arg event "$1" --argjson more "${2:-{\}}" --arg cwd $project --arg id $hosted \
        '{session_id: $id, transcript_path: "/tmp/everfold-corpus/host.jsonl", cwd: $cwd,
          hook_event_name: $event, permission_mode: "default"} + $more' | run hook "$1"
}

said() { # number, what a person said to another agent
    jq -nc --arg id "00000000-0000-4000-8000-00000000000$1" --arg text "$2" --arg session $hosted \
        '{type: "user", uuid: $id, parentUuid: null, sessionId: $session,
          timestamp: "2026-11-01T10:00:00.000Z", cwd: "/tmp/everfold-corpus/project",
          version: "2.1.325", userType: "external", isSidechain: false,
          message: {role: "user", content: $text}}' >>$root/host.jsonl
}

# Workers that hooks left behind.
no_worker() {
    for _ in $(seq 100); do
        pgrep -f "^$root/bin/everfold.*--worker" >/dev/null || return 0
        sleep 0.1
    done
    echo "a worker does not end" >&2
    exit 1
}

begin() {
    rm -rf $root
    mkdir -p $root/bin $root/home/.everfold $root/home/.claude $project $root/brought/.claude
    cp "$program" $root/bin/everfold
    printf '#!/bin/sh\nsed -i "s/ledger service/ledger service since March/" "$1"\n' >$root/bin/editor
    chmod +x $root/bin/editor
    for repository in $project $root/brought; do git -C $repository init -q -b main; done
    cp "$here/parts/settings.json" $home/settings.json
    printf 'The shed is red.\nThe lawn is green.\n' >$project/notes.txt
    printf '# The shop\n\nTests run with `make test`.\n' >$project/AGENTS.md
    cd $project
}

memories() {
    echo "We ship on Thursdays, when support is there.
**Why:** a Friday deploy once ruined a weekend.
**How to apply:** plan releases of the shop for Thursday." |
        add "Deploy day" project "deploys of the shop go out on Thursdays" project
    echo "Integration tests use a real database and never mocks of it." |
        add "Real database" feedback "integration tests use a real database" project
    echo "The invoices are in the ledger service." |
        add "Invoices" reference "where invoices are kept" project
    echo "Likes short answers." | add "Answers" user "the person likes short answers" global
    echo "Likes green tea." | add "Tea" user "the person likes green tea" project
    echo "The kitchen is on the third floor." |
        add "Kitchen" reference "where the kitchen is" project
    echo "The staging server is called meadow." |
        add "Staging" project "the name of the staging server" team
    run memory move tea --to global
    run memory forget kitchen
    run memory forget invoices
    run memory undo
    more=EDITOR=$root/bin/editor run memory edit invoices
    # By hand, outside of the program.
    printf -- '---\nname: By hand\ndescription: written with an editor\ntype: reference\n---\nThe printer is broken.\n' \
        >$home/projects/$slug/memory/by-hand.md
    run memory check --fix >/dev/null || true
    # By rule, in a session without a model.
    extract=1 run -p --session-id $kept "Remember that the release captain is chosen every Monday."
    # By a client of the MCP server.
    printf '%s\n' \
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_save","arguments":{"name":"Colours","description":"the colours of the brand","type":"reference","text":"The brand is blue and yellow."}}}' |
        run mcp
}

talks() {
    serve main.json
    printf '%s\n' "read the notes" "/pin 3" "count the numbers" "ask an agent" \
        "when do deploys of the shop go out?" "/notes update" |
        more=EVERFOLD_FLAG_SESSION_MEMORY=1 run --plain --session-id $main \
            --permission-mode bypassPermissions
    printf '%s\n' "a word that is taken out" "/snip 15 16" "/compact keep the colour" "go on" |
        run --plain --resume $main
    printf '%s\n' "write one" "write two" "/rewind 2 both" "go on" |
        run --plain --session-id $rewound --permission-mode acceptEdits
    run -p --resume $rewound --fork-session --session-id $forked "another way"
    printf '%s\n' "/effort high" "/language English" "cut the stream" "plan the work" "/pin 3" \
        "/unpin 3" "/snip 3 4" "/unsnip 3" "/memory off" "hello" "/memory on" "hello again" \
        "/expand 3" "on" | run --plain --session-id $varied
    # Many requests are expected to follow, so that it pays to clear old results.
    printf '%s\n' "print a list" "print another list" "print a third list" |
        run --plain --session-id $cleared --permission-mode bypassPermissions
    local prune=EVERFOLD_LIMIT_PRUNE
    more="${prune}_IDLE_MINUTES=0 ${prune}_KEEP_RESULTS=1 ${prune}_ASK_AGAIN_PERCENT=0
        ${prune}_ASK_REPEATED_PERCENT=0 ${prune}_ASK_RECENT_PERCENT=0
        ${prune}_EXPECTED_ROUNDS=100000 ${prune}_LOSS_PERCENT=100" \
        run -p --resume $cleared "go on"
    wrap="timeout -s INT 2" run -p --session-id $stopped "never answer" || true
}

letters() {
    run -p --team crew --agent-name ada --session-id $ada "hello"
    run -p --team crew --agent-name bob --session-id $bob "tell ada first"
    run -p --team crew --agent-name ada --resume $ada "any news?"
    run -p --team crew --agent-name bob --resume $bob "tell ada second"
    offline
}

# As another agent calls it.
hooks() {
    hook SessionStart '{"source":"startup"}'
    hook UserPromptSubmit '{"prompt":"when do deploys of the shop go out?"}'
    hook PostToolUse "$(jq -nc --arg file "$home/projects/$slug/memory/invoices.md" \
        '{tool_name: "Read", tool_input: {file_path: $file}, tool_response: {}}')"
    said 1 "Remember that the shop closes at six in winter."
    hook PreCompact '{"trigger":"auto","custom_instructions":null}'
    hook PostCompact '{"trigger":"auto","compact_summary":"Nothing of note."}'
    extract=1 hook Stop '{"stop_hook_active":false}'
    no_worker
}

dreams() {
    local memory=$home/projects/$slug/memory
    printf -- '---\nname: database\ndescription: tests use a real database\ntype: feedback\n---\nIntegration tests use a real database and never mocks of it.\nThe seed comes from fixtures.\n' \
        >$memory/database-copy.md
    run dream --force
}

# Two proposals that wait, one that was taken over and one that was not.
inbox() {
    jq '.everfold.memory.review = "inbox"' "$here/parts/settings.json" >$home/settings.json
    local number=2 text
    for text in "Always run the linter before you commit." \
        "Remember that the warehouse is in the old mill." \
        "Never rename the tables of the ledger." \
        "Remember that the office dog is called Biscuit."; do
        said $number "$text"
        extract=1 hook Stop
        no_worker
        number=$((number + 1))
    done
    hook SessionEnd '{"reason":"other"}'
    no_worker
    run memory inbox accept 1
    run memory inbox reject 2
}

trusts() {
    cat >$root/brought/.claude/settings.json <<END
{
  "permissions": { "allow": ["Bash(touch:*)"] },
  "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "touch ran" }] }] }
}
END
    echo '{"mcpServers": {"shop": {"command": "true", "args": ["--quiet"]}}}' >$root/brought/.mcp.json
    (cd $root/brought && run trust)
}

installs() {
    printf '{\n  // mine\n  "model": "opus",\n  "hooks": {}\n}\n' >$root/home/.claude/settings.json
    printf '{"numStartups": 7}\n' >$root/home/.claude.json
    run install claude
    run install codex
}

# Into the repository, and back as a checkout leaves it. A `.gitignore` there
# would hide the journal from git, so it has another name.
pack() {
    rm -rf "$corpus"
    mkdir -p "$corpus"
    (cd $root && rm -rf home/.everfold/run home/.everfold/logs &&
        find home project brought host.jsonl -type f -not -path '*/.git/*') |
        while read -r file; do
            install -D -m 644 "$root/$file" "$corpus/${file//.gitignore/_gitignore}"
        done
}

unpack() {
    rm -rf $root/home $root/project $root/brought $root/host.jsonl
    (cd "$corpus" && find . -type f) | while read -r file; do
        install -D -m 600 "$corpus/$file" "$root/${file//_gitignore/.gitignore}"
    done
    rm $root/expected.json 2>/dev/null || true
    chmod -R go= $root/home
    for repository in $project $root/brought; do git -C $repository init -q -b main; done
}

# What a command says: the part of it that a filter takes, which leaves out what
# depends on the day, on the dates of files or on how results are ranked.
look() { # directory, filter, arguments
    local in=$1 filter=$2 said code=0
    shift 2
    said=$(cd "$root/$in" && run "$@" 2>$root/complaints) || code=$?
    echo "$said" | jq -c "$filter" | jq -c --arg in "$in" --argjson code $code \
        --rawfile complaints $root/complaints --args \
        '{in: $in, args: $ARGS.positional, code: $code, says: ., complaints: $complaints}' -- "$@" \
        >>$root/looks
}

expect() {
    local id
    : >$root/looks
    look project 'map(del(.modified, .bytes, .size))' sessions list --json
    for id in $main $rewound $stopped $kept $ada $bob $cleared $varied $forked; do
        look project . sessions show $id --json
        look project . cost --session $id --json
        look project . health --session $id --json
    done
    look project . cost --project --json
    look project '{sessions: [.sessions[] |
        {session_id, format, conversations, agent_files, lines, skipped, reported}]}' \
        replay $main --json
    for id in toolu_spilled toolu_agent; do
        look project . show-result $id --session $main --json
    done
    look project . show-result toolu_list_1 --session $cleared --json
    look project 'map({path, scope, type, name, description, used, fault})' memory list --json
    look project . memory log --json
    look project . memory log --scope global --json
    look project . memory log --scope team --json
    look project . memory diff 1 --json
    look project . memory diff 17 --json
    for id in deploy-day tea staging; do
        look project '{path, file, scope, type, name, description, body, text}' memory show $id --json
    done
    for id in the-release-captain-is-chosen-every-monday colours; do
        look project . memory blame $id --json
    done
    look project . memory inbox --json
    look project . memory inbox show 3 --json
    look project . memory check --json
    look project 'map({path, scope, injected})' recall "when do deploys of the shop go out?" --json
    look project '{sessions: [.sessions[] | {session_id, record_id, who}]}' search lawn --json
    look project 'map(select(.origin.source != "default" and .origin.source != "environment"))' \
        config --json
    look project 'map(select(.severity != "info" and .area != "provider" and .area != "platform")
        | {severity, area})' doctor --json
    look brought . trust --dry-run --json
    look brought . trust --list --json
    jq -n --slurpfile looks $root/looks --arg version "$version" --arg main $main \
        --arg rewound $rewound --arg stopped $stopped --arg cleared $cleared --arg kept $kept \
        --arg varied $varied --arg forked $forked --arg ada $ada --arg bob $bob --arg hosted $hosted --slurpfile next "$here/parts/next.json" \
        '{version: $version, sessions: {main: $main, rewound: $rewound, stopped: $stopped,
          cleared: $cleared, kept: $kept, varied: $varied, forked: $forked, ada: $ada, bob: $bob, hosted: $hosted}} +
         $next[0] + {looks: $looks}' >"$corpus/expected.json"
}

# Nothing of this machine may be left in what was written.
clean() {
    local words
    words=$(printf '%s\n' "$(hostname)" "$(uname -r)" "$HOME/" "$here" | grep -v '^/*$')
    if grep -rIlF "$words" "$corpus"; then
        echo "these files tell of this machine" >&2
        exit 1
    fi
}

begin
memories
talks
letters
hooks
dreams
inbox
trusts
installs
pack
unpack
expect
clean
rm -rf $root
du -sh --apparent-size "$corpus"
