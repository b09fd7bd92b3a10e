# shellcheck shell=bash
# The acceptance stories: `tools/run` prints them for copying, `tools/walk-through` runs them.
#
# tell_stories calls two functions that the sourcing script defines:
#   story TITLE                       begins a story
#   step COMMAND [STATUS [CONDITION]] a command, the HTTP status of its answer, and a jq condition for the
#                                     answer's body
#
# The commands need $base (the server's address) and $run (a part of all names, unique to the run).

# The functions used by the commands, to be pasted once before them.
# shellcheck disable=SC2016 # the person's shell expands it, or walk-through's eval
readonly story_prelude='# An ID token of a provider for a name, from the development identity provider
id_token() { curl -sS "$base/dev/idp/$1/token?name=$2-$run${3:+&nonce=$3}" | jq -r .id_token; }
# An access token of Facebook or GitHub, from the same
access_token() { curl -sS "$base/dev/idp/$1/token?name=$2-$run" | jq -r .access_token; }
# One call: method, path, provider and name whose ID token to send, access token
ask() { curl -sS -X "$1" "$base$2" ${5:+-H "Authorization: Bearer $5"} \
    ${3:+-H "Content-Type: application/json" -d "{\"id_token\":\"$(id_token "$3" "$4")\"}"}; }
member() { jq -r ".$1" <<<"$2"; }
# The code that was sent to an address last, from the outbox of the development mode
code() { curl -sS "$base/dev/outbox" | jq -r --arg to "$1" \
    "[.messages[] | select(.to == \$to)][0].text" | grep -oE "[0-9]{6}" | head -1; }
# The code of an authenticator app: its secret, the time
totp() { oathtool --base32 --totp --now "$2" "$1"; }
# A call with a body: method, path, body, access token
send() { curl -sS -X "$1" "$base$2" ${4:+-H "Authorization: Bearer $4"} \
    -H "Content-Type: application/json" -d "$3"; }
# A browser with its cookies: opens an address, or sends a form to it, and prints where it is redirected to
visit() { curl -sS -b "$cookies" -c "$cookies" -o /dev/null -w "%{redirect_url}\n" "$@"; }
# The code challenge of a code verifier (RFC 7636)
challenge() { printf %s "$1" | openssl dgst -sha256 -binary | basenc --base64url | tr -d =; }'

# shellcheck disable=SC2016 # the commands are expanded where they are pasted or run
tell_stories() {
    story 'AC1: sign in with Apple, then link Google'
    step 'ada=$(ask POST /v1/auth/sign-in/apple apple ada); jq . <<<"$ada"' \
        200 '.is_new_user and .linked_providers == ["apple"]'
    step 'ask POST /v1/auth/link/google google ada "$(member access_token "$ada")" | jq .' \
        200 '.linked_providers == ["apple", "google"]'
    step 'ask GET /v1/account "" "" "$(member access_token "$ada")" | jq .' \
        200 '[.identities[].provider] == ["apple", "google"]'

    story 'AC2: sign in with Google, then link Apple'
    step 'ben=$(ask POST /v1/auth/sign-in/google google ben); jq . <<<"$ben"' \
        200 '.is_new_user and .linked_providers == ["google"]'
    step 'ask POST /v1/auth/link/apple apple ben "$(member access_token "$ben")" | jq .' \
        200 '.linked_providers == ["google", "apple"]'

    story 'AC3: an identity of another account is refused, and the answer does not tell whose it is'
    step 'eve=$(ask POST /v1/auth/sign-in/apple apple eve); jq . <<<"$eve"' \
        200 '.is_new_user'
    step 'ask POST /v1/auth/link/google google ada "$(member access_token "$eve")" | jq .' \
        409 '.error.code == "PROVIDER_CONFLICT"'

    story 'AC4: the only way to sign in cannot be unlinked'
    step 'ask DELETE /v1/auth/link/apple "" "" "$(member access_token "$eve")" | jq .' \
        400 '.error.code == "CANNOT_UNLINK_ONLY_PROVIDER"'

    story 'AC5: on another device, the other provider opens the same account'
    step 'tablet=$(ask POST /v1/auth/sign-in/google google ada); jq . <<<"$tablet"' \
        200 '.is_new_user == false and .linked_providers == ["apple", "google"]'
    step '[ "$(member user_id "$ada")" = "$(member user_id "$tablet")" ] && echo "the same account"'

    story 'One of two ways to sign in can be unlinked'
    step 'ask DELETE /v1/auth/link/google "" "" "$(member access_token "$ada")" | jq .' \
        200 '.linked_providers == ["apple"]'

    story 'Access tokens of Facebook and GitHub are checked with the provider, for which app and person they are'
    step 'fay=$(curl -sS "$base/v1/auth/sign-in/facebook" -H "Content-Type: application/json" \
    -d "{\"access_token\":\"$(access_token facebook fay)\"}"); jq . <<<"$fay"' \
        200 '.is_new_user and .linked_providers == ["facebook"]'
    step 'curl -sS "$base/v1/auth/link/github" -H "Content-Type: application/json" \
    -H "Authorization: Bearer $(member access_token "$fay")" \
    -d "{\"access_token\":\"$(access_token github fay)\"}" | jq .' \
        200 '.linked_providers == ["facebook", "github"]'

    story 'A browser flow signs in with X: the browser returns with a code for the app that began the flow'
    step 'verifier=$(openssl rand -hex 32); flow=$(send POST /v1/auth/flows "{\"provider\":\"x\",\
\"purpose\":\"sign_in\",\"return_to\":\"http://127.0.0.1:3000/callback\",\
\"code_challenge\":\"$(challenge "$verifier")\"}"); jq . <<<"$flow"' \
        200 '.expires_in == 600'
    step 'cookies=$(mktemp); page=$(visit "$(member authorize_url "$flow")"); echo "$page"'
    step 'callback=$(visit "$page" --data "name=max-$run"); echo "$callback"'
    step 'back=$(visit "$callback"); rm "$cookies"; echo "$back"'
    step 'send POST /v1/auth/sign-in/x "{\"flow_code\":\"${back#*flow_code=}\",\"code_verifier\":\"$verifier\"}" | jq .' \
        200 '.is_new_user and .linked_providers == ["x"]'
    step 'send POST /v1/auth/sign-in/x "{\"flow_code\":\"${back#*flow_code=}\",\"code_verifier\":\"$verifier\"}" | jq .' \
        401 '.error.code == "INVALID_PROVIDER_TOKEN"'

    story 'An account that proved nothing yet is opened, and becomes a real one with its first link'
    step 'una=$(curl -sS "$base/v1/auth/sign-in/anonymous" -H "Content-Type: application/json" -d "{}"); jq . <<<"$una"' \
        200 '.is_new_user and .linked_providers == ["anonymous"]'
    step 'curl -sS "$base/v1/auth/sign-in/anonymous" -H "Content-Type: application/json" \
    -d "{\"anonymous_secret\":\"$(member anonymous_secret "$una")\"}" | jq .' \
        200 '.is_new_user == false'
    step 'ask POST /v1/auth/link/google google una "$(member access_token "$una")" | jq .' \
        200 '.linked_providers == ["google"]'
    step 'ask POST /v1/auth/sign-in/google google una | jq .' \
        200 '.is_new_user == false and .linked_providers == ["google"]'
    step 'curl -sS "$base/v1/auth/sign-in/anonymous" -H "Content-Type: application/json" \
    -d "{\"anonymous_secret\":\"$(member anonymous_secret "$una")\"}" | jq .' \
        404 '.error.code == "ACCOUNT_NOT_FOUND"'

    story 'A code by e-mail opens an account, and comes back to it'
    step 'gus=$(send POST /v1/auth/codes/email "{\"address\":\"gus-$run@example.com\"}"); jq . <<<"$gus"' \
        200 '.expires_in == 600'
    step 'gus=$(send POST /v1/auth/sign-in/email \
    "{\"challenge_id\":\"$(member challenge_id "$gus")\",\"code\":\"$(code "gus-$run@example.com")\"}"); jq . <<<"$gus"' \
        200 '.is_new_user and .linked_providers == ["email"]'

    story 'A password signs up with a code, and is reset with another one'
    step 'pat=$(send POST /v1/auth/sign-up/password \
    "{\"email\":\"pat-$run@example.com\",\"password\":\"correct horse battery staple\"}"); jq . <<<"$pat"' \
        200 '.expires_in == 600'
    step 'pat=$(send POST /v1/auth/sign-in/password \
    "{\"challenge_id\":\"$(member challenge_id "$pat")\",\"code\":\"$(code "pat-$run@example.com")\"}"); jq . <<<"$pat"' \
        200 '.is_new_user and .linked_providers == ["password"]'
    step 'send POST /v1/auth/sign-in/password \
    "{\"email\":\"pat-$run@example.com\",\"password\":\"wrong horse battery staple\"}" | jq .' \
        401 '.error.code == "INVALID_PASSWORD"'
    step 'pam=$(send POST /v1/auth/password-resets/password "{\"email\":\"pat-$run@example.com\"}"); jq . <<<"$pam"' \
        200 '.expires_in == 600'
    step 'send POST /v1/auth/password-resets/password/complete "{\"challenge_id\":\"$(member challenge_id "$pam")\",\
\"code\":\"$(code "pat-$run@example.com")\",\"password\":\"another horse battery staple\"}" | jq .' \
        200 '.linked_providers == ["password"]'
    step 'ask GET /v1/account "" "" "$(member access_token "$pat")" | jq .' \
        401 '.error.code == "INVALID_ACCESS_TOKEN"'
    step 'send POST /v1/auth/sign-in/password \
    "{\"email\":\"pat-$run@example.com\",\"password\":\"another horse battery staple\"}" | jq .' \
        200 '.is_new_user == false'

    story 'An address is changed, and taken back by the person who reads its messages'
    step 'ivy=$(send POST /v1/auth/codes/email "{\"address\":\"ivy-$run@example.com\"}"); ivy=$(send POST /v1/auth/sign-in/email \
    "{\"challenge_id\":\"$(member challenge_id "$ivy")\",\"code\":\"$(code "ivy-$run@example.com")\"}"); jq . <<<"$ivy"' \
        200 '.is_new_user'
    step 'new=$(send POST /v1/account/codes/email "{\"address\":\"ivy-new-$run@example.com\",\"change\":true}" \
    "$(member access_token "$ivy")"); jq . <<<"$new"' \
        200 '.expires_in == 600'
    step 'ivy=$(send POST /v1/account/addresses/email "{\"current_address\":\"ivy-$run@example.com\",\"challenge_id\":\
\"$(member challenge_id "$new")\",\"code\":\"$(code "ivy-new-$run@example.com")\"}" "$(member access_token "$ivy")"); jq . <<<"$ivy"' \
        200 '.linked_providers == ["email"]'
    step 'ask GET "/v1/account/activity?limit=1" "" "" "$(member access_token "$ivy")" | jq ".activity[] | {kind, by}"' \
        200 '.activity | length == 1'
    step 'old=$(send POST /v1/auth/address-returns/email "{\"address\":\"ivy-$run@example.com\"}"); jq . <<<"$old"' \
        200 '.expires_in == 600'
    step 'send POST /v1/auth/address-returns/email/complete "{\"challenge_id\":\"$(member challenge_id "$old")\",\
\"code\":\"$(code "ivy-$run@example.com")\",\"password\":\"the third horse battery staple\"}" | jq .' \
        200 '.linked_providers == ["email"]'
    step 'ask GET /v1/account "" "" "$(member access_token "$ivy")" | jq .' \
        401 '.error.code == "INVALID_ACCESS_TOKEN"'

    story 'An authenticator app is asked at every sign-in, and an account with one absorbs another'
    step 'kim=$(ask POST /v1/auth/sign-in/apple apple kim); app=$(send POST /v1/account/factor-enrolments \
    "{\"type\":\"totp\"}" "$(member access_token "$kim")"); jq . <<<"$app"' \
        200 '.expires_in == 600'
    step 'kim=$(send POST /v1/account/factors "{\"enrolment_token\":\"$(member enrolment_token "$app")\",\
\"code\":\"$(totp "$(member secret "$app")" now)\"}" "$(member access_token "$kim")"); jq . <<<"$kim"' \
        200 '.recovery_codes | length == 10'
    step 'lee=$(ask POST /v1/auth/sign-in/google google lee); ask POST /v1/auth/link/apple apple kim \
    "$(member access_token "$lee")" | jq .' \
        409 '.error.code == "PROVIDER_CONFLICT"'
    step 'step=$(ask POST /v1/auth/sign-in/apple apple kim); jq . <<<"$step"' \
        403 '.error.code == "SECOND_FACTOR_REQUIRED"'
    step 'kim=$(send POST /v1/auth/second-factor "{\"sign_in_token\":\"$(member error.details.sign_in_token "$step")\",\
\"factor_id\":\"$(member factor_id "$kim")\",\"code\":\"$(totp "$(member secret "$app")" "now + 30 seconds")\"}"); jq . <<<"$kim"' \
        200 '.is_new_user == false'
    step 'plan=$(send POST /v1/account/merge/preview \
    "{\"provider\":\"google\",\"id_token\":\"$(id_token google lee)\"}" "$(member access_token "$kim")"); jq . <<<"$plan"' \
        200 '.linked_providers == ["apple", "google"]'
    step 'send POST /v1/account/merge "{\"provider\":\"google\",\"plan_digest\":\"$(member plan_digest "$plan")\",\
\"id_token\":\"$(id_token google lee "$(member plan_digest "$plan")")\"}" "$(member access_token "$kim")" | jq .' \
        200 '.linked_providers == ["apple", "google"]'

    story 'Support disables an account, to which nothing signs in until it is enabled'
    step 'tools/ledger disable "$(member user_id "$ben")" --reason "stolen phone" --case T-6'
    step 'ask GET /v1/account "" "" "$(member access_token "$ben")" | jq .' \
        401 '.error.code == "INVALID_ACCESS_TOKEN"'
    step 'ask POST /v1/auth/sign-in/google google ben | jq .' \
        403 '.error.code == "ACCOUNT_DISABLED"'
    step 'tools/ledger enable "$(member user_id "$ben")" --reason "phone found" --case T-6'
    step 'ask POST /v1/auth/sign-in/google google ben | jq .' \
        200 '.is_new_user == false'

    story 'Support merges two accounts, and separates them again'
    step 'max=$(ask POST /v1/auth/sign-in/apple apple max); may=$(ask POST /v1/auth/sign-in/google google may); jq . <<<"$may"' \
        200 '.is_new_user'
    step 'merge=$(tools/ledger merge "$(member user_id "$max")" "$(member user_id "$may")" --reason "one person" --case T-7); printf "%s\n" "$merge"'
    step 'ask POST /v1/auth/sign-in/google google may | jq "{user_id, linked_providers}"' \
        200 '.linked_providers == ["apple", "google"]'
    step 'tools/ledger unmerge "${merge##* }" --reason "two people" --case T-8'
    step 'ask POST /v1/auth/sign-in/google google may | jq "{user_id, linked_providers}"' \
        200 '.linked_providers == ["google"]'

    story 'All of it is in the log'
    step 'tools/ledger replay --account "$(member user_id "$ada")"'
}
