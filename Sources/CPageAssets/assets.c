// The files of the pages, embedded by the C compiler: resources of SwiftPM take seconds to compile.

#include "page_assets.h"

#define HTML "text/html; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define PICTURE "image/svg+xml"

static const unsigned char account_account_mjs[] = {
#embed "account/account.mjs"
};
static const unsigned char account_activity_mjs[] = {
#embed "account/activity.mjs"
};
static const unsigned char account_addresses_mjs[] = {
#embed "account/addresses.mjs"
};
static const unsigned char account_changes_mjs[] = {
#embed "account/changes.mjs"
};
static const unsigned char account_combine_mjs[] = {
#embed "account/combine.mjs"
};
static const unsigned char account_forms_mjs[] = {
#embed "account/forms.mjs"
};
static const unsigned char account_icon_svg[] = {
#embed "account/icon.svg"
};
static const unsigned char account_index_html[] = {
#embed "account/index.html"
};
static const unsigned char account_methods_mjs[] = {
#embed "account/methods.mjs"
};
static const unsigned char account_other_mjs[] = {
#embed "account/other.mjs"
};
static const unsigned char account_page_mjs[] = {
#embed "account/page.mjs"
};
static const unsigned char account_security_mjs[] = {
#embed "account/security.mjs"
};
static const unsigned char account_sign_in_mjs[] = {
#embed "account/sign-in.mjs"
};
static const unsigned char account_style_css[] = {
#embed "account/style.css"
};
static const unsigned char bundle_verify_css[] = {
#embed "bundle/verify.css"
};
static const unsigned char bundle_verify_html[] = {
#embed "bundle/verify.html"
};
static const unsigned char bundle_verify_mjs[] = {
#embed "bundle/verify.mjs"
};
static const unsigned char console_account_head_mjs[] = {
#embed "console/account-head.mjs"
};
static const unsigned char console_charts_mjs[] = {
#embed "console/charts.mjs"
};
static const unsigned char console_console_mjs[] = {
#embed "console/console.mjs"
};
static const unsigned char console_dialogs_mjs[] = {
#embed "console/dialogs.mjs"
};
static const unsigned char console_erasure_request_mjs[] = {
#embed "console/erasure-request.mjs"
};
static const unsigned char console_event_filters_mjs[] = {
#embed "console/event-filters.mjs"
};
static const unsigned char console_event_follow_mjs[] = {
#embed "console/event-follow.mjs"
};
static const unsigned char console_event_rows_mjs[] = {
#embed "console/event-rows.mjs"
};
static const unsigned char console_format_mjs[] = {
#embed "console/format.mjs"
};
static const unsigned char console_frame_mjs[] = {
#embed "console/frame.mjs"
};
static const unsigned char console_icon_svg[] = {
#embed "console/icon.svg"
};
static const unsigned char console_index_html[] = {
#embed "console/index.html"
};
static const unsigned char console_paged_list_mjs[] = {
#embed "console/paged-list.mjs"
};
static const unsigned char console_picture_mjs[] = {
#embed "console/picture.mjs"
};
static const unsigned char console_repair_steps_mjs[] = {
#embed "console/repair-steps.mjs"
};
static const unsigned char console_repair_words_mjs[] = {
#embed "console/repair-words.mjs"
};
static const unsigned char console_save_mjs[] = {
#embed "console/save.mjs"
};
static const unsigned char console_second_person_mjs[] = {
#embed "console/second-person.mjs"
};
static const unsigned char console_session_mjs[] = {
#embed "console/session.mjs"
};
static const unsigned char console_steps_mjs[] = {
#embed "console/steps.mjs"
};
static const unsigned char console_stream_mjs[] = {
#embed "console/stream.mjs"
};
static const unsigned char console_style_css[] = {
#embed "console/style.css"
};
static const unsigned char console_support_plans_mjs[] = {
#embed "console/support-plans.mjs"
};
static const unsigned char console_timeline_mjs[] = {
#embed "console/timeline.mjs"
};
static const unsigned char console_trust_mjs[] = {
#embed "console/trust.mjs"
};
static const unsigned char console_verdicts_mjs[] = {
#embed "console/verdicts.mjs"
};
static const unsigned char console_view_access_log_mjs[] = {
#embed "console/view-access-log.mjs"
};
static const unsigned char console_view_access_mjs[] = {
#embed "console/view-access.mjs"
};
static const unsigned char console_view_account_mjs[] = {
#embed "console/view-account.mjs"
};
static const unsigned char console_view_as_of_mjs[] = {
#embed "console/view-as-of.mjs"
};
static const unsigned char console_view_compare_mjs[] = {
#embed "console/view-compare.mjs"
};
static const unsigned char console_view_conflicts_mjs[] = {
#embed "console/view-conflicts.mjs"
};
static const unsigned char console_view_erase_mjs[] = {
#embed "console/view-erase.mjs"
};
static const unsigned char console_view_erasures_mjs[] = {
#embed "console/view-erasures.mjs"
};
static const unsigned char console_view_event_mjs[] = {
#embed "console/view-event.mjs"
};
static const unsigned char console_view_events_mjs[] = {
#embed "console/view-events.mjs"
};
static const unsigned char console_view_export_mjs[] = {
#embed "console/view-export.mjs"
};
static const unsigned char console_view_factor_mjs[] = {
#embed "console/view-factor.mjs"
};
static const unsigned char console_view_hold_mjs[] = {
#embed "console/view-hold.mjs"
};
static const unsigned char console_view_holds_mjs[] = {
#embed "console/view-holds.mjs"
};
static const unsigned char console_view_log_mjs[] = {
#embed "console/view-log.mjs"
};
static const unsigned char console_view_merge_mjs[] = {
#embed "console/view-merge.mjs"
};
static const unsigned char console_view_overview_mjs[] = {
#embed "console/view-overview.mjs"
};
static const unsigned char console_view_owner_mjs[] = {
#embed "console/view-owner.mjs"
};
static const unsigned char console_view_picture_mjs[] = {
#embed "console/view-picture.mjs"
};
static const unsigned char console_view_relink_mjs[] = {
#embed "console/view-relink.mjs"
};
static const unsigned char console_view_search_mjs[] = {
#embed "console/view-search.mjs"
};
static const unsigned char console_view_timelines_mjs[] = {
#embed "console/view-timelines.mjs"
};
static const unsigned char console_view_undo_mjs[] = {
#embed "console/view-undo.mjs"
};
static const unsigned char console_view_unlink_mjs[] = {
#embed "console/view-unlink.mjs"
};
static const unsigned char console_words_mjs[] = {
#embed "console/words.mjs"
};
static const unsigned char lib_api_mjs[] = {
#embed "lib/api.mjs"
};
static const unsigned char lib_dialog_mjs[] = {
#embed "lib/dialog.mjs"
};
static const unsigned char lib_el_mjs[] = {
#embed "lib/el.mjs"
};
static const unsigned char lib_form_mjs[] = {
#embed "lib/form.mjs"
};
static const unsigned char lib_languages_mjs[] = {
#embed "lib/languages.mjs"
};
static const unsigned char lib_passkeys_mjs[] = {
#embed "lib/passkeys.mjs"
};
static const unsigned char lib_qr_mjs[] = {
#embed "lib/qr.mjs"
};
static const unsigned char proof_bundle_files_mjs[] = {
#embed "proof/bundle-files.mjs"
};
static const unsigned char proof_bundle_mjs[] = {
#embed "proof/bundle.mjs"
};
static const unsigned char proof_bytes_mjs[] = {
#embed "proof/bytes.mjs"
};
static const unsigned char proof_entry_mjs[] = {
#embed "proof/entry.mjs"
};
static const unsigned char proof_event_mjs[] = {
#embed "proof/event.mjs"
};
static const unsigned char proof_histories_mjs[] = {
#embed "proof/histories.mjs"
};
static const unsigned char proof_note_mjs[] = {
#embed "proof/note.mjs"
};
static const unsigned char proof_rfc6962_mjs[] = {
#embed "proof/rfc6962.mjs"
};
static const unsigned char proof_tar_mjs[] = {
#embed "proof/tar.mjs"
};
static const unsigned char proof_tlog_proof_mjs[] = {
#embed "proof/tlog-proof.mjs"
};
static const unsigned char proof_witness_mjs[] = {
#embed "proof/witness.mjs"
};
static const unsigned char texts_de_more_mjs[] = {
#embed "texts/de-more.mjs"
};
static const unsigned char texts_de_mjs[] = {
#embed "texts/de.mjs"
};
static const unsigned char texts_en_more_mjs[] = {
#embed "texts/en-more.mjs"
};
static const unsigned char texts_en_mjs[] = {
#embed "texts/en.mjs"
};
static const unsigned char texts_es_more_mjs[] = {
#embed "texts/es-more.mjs"
};
static const unsigned char texts_es_mjs[] = {
#embed "texts/es.mjs"
};
static const unsigned char texts_fr_more_mjs[] = {
#embed "texts/fr-more.mjs"
};
static const unsigned char texts_fr_mjs[] = {
#embed "texts/fr.mjs"
};
static const unsigned char texts_ja_more_mjs[] = {
#embed "texts/ja-more.mjs"
};
static const unsigned char texts_ja_mjs[] = {
#embed "texts/ja.mjs"
};
static const unsigned char texts_zh_Hant_more_mjs[] = {
#embed "texts/zh-Hant-more.mjs"
};
static const unsigned char texts_zh_Hant_mjs[] = {
#embed "texts/zh-Hant.mjs"
};

static const struct page_asset assets[] = {
    {"account/account.mjs", SCRIPT, account_account_mjs, sizeof account_account_mjs},
    {"account/activity.mjs", SCRIPT, account_activity_mjs, sizeof account_activity_mjs},
    {"account/addresses.mjs", SCRIPT, account_addresses_mjs, sizeof account_addresses_mjs},
    {"account/changes.mjs", SCRIPT, account_changes_mjs, sizeof account_changes_mjs},
    {"account/combine.mjs", SCRIPT, account_combine_mjs, sizeof account_combine_mjs},
    {"account/forms.mjs", SCRIPT, account_forms_mjs, sizeof account_forms_mjs},
    {"account/icon.svg", PICTURE, account_icon_svg, sizeof account_icon_svg},
    {"account/index.html", HTML, account_index_html, sizeof account_index_html},
    {"account/methods.mjs", SCRIPT, account_methods_mjs, sizeof account_methods_mjs},
    {"account/other.mjs", SCRIPT, account_other_mjs, sizeof account_other_mjs},
    {"account/page.mjs", SCRIPT, account_page_mjs, sizeof account_page_mjs},
    {"account/security.mjs", SCRIPT, account_security_mjs, sizeof account_security_mjs},
    {"account/sign-in.mjs", SCRIPT, account_sign_in_mjs, sizeof account_sign_in_mjs},
    {"account/style.css", STYLE, account_style_css, sizeof account_style_css},
    {"bundle/verify.css", STYLE, bundle_verify_css, sizeof bundle_verify_css},
    {"bundle/verify.html", HTML, bundle_verify_html, sizeof bundle_verify_html},
    {"bundle/verify.mjs", SCRIPT, bundle_verify_mjs, sizeof bundle_verify_mjs},
    {"console/account-head.mjs", SCRIPT, console_account_head_mjs, sizeof console_account_head_mjs},
    {"console/charts.mjs", SCRIPT, console_charts_mjs, sizeof console_charts_mjs},
    {"console/console.mjs", SCRIPT, console_console_mjs, sizeof console_console_mjs},
    {"console/dialogs.mjs", SCRIPT, console_dialogs_mjs, sizeof console_dialogs_mjs},
    {"console/erasure-request.mjs", SCRIPT, console_erasure_request_mjs, sizeof console_erasure_request_mjs},
    {"console/event-filters.mjs", SCRIPT, console_event_filters_mjs, sizeof console_event_filters_mjs},
    {"console/event-follow.mjs", SCRIPT, console_event_follow_mjs, sizeof console_event_follow_mjs},
    {"console/event-rows.mjs", SCRIPT, console_event_rows_mjs, sizeof console_event_rows_mjs},
    {"console/format.mjs", SCRIPT, console_format_mjs, sizeof console_format_mjs},
    {"console/frame.mjs", SCRIPT, console_frame_mjs, sizeof console_frame_mjs},
    {"console/icon.svg", PICTURE, console_icon_svg, sizeof console_icon_svg},
    {"console/index.html", HTML, console_index_html, sizeof console_index_html},
    {"console/paged-list.mjs", SCRIPT, console_paged_list_mjs, sizeof console_paged_list_mjs},
    {"console/picture.mjs", SCRIPT, console_picture_mjs, sizeof console_picture_mjs},
    {"console/repair-steps.mjs", SCRIPT, console_repair_steps_mjs, sizeof console_repair_steps_mjs},
    {"console/repair-words.mjs", SCRIPT, console_repair_words_mjs, sizeof console_repair_words_mjs},
    {"console/save.mjs", SCRIPT, console_save_mjs, sizeof console_save_mjs},
    {"console/second-person.mjs", SCRIPT, console_second_person_mjs, sizeof console_second_person_mjs},
    {"console/session.mjs", SCRIPT, console_session_mjs, sizeof console_session_mjs},
    {"console/steps.mjs", SCRIPT, console_steps_mjs, sizeof console_steps_mjs},
    {"console/stream.mjs", SCRIPT, console_stream_mjs, sizeof console_stream_mjs},
    {"console/style.css", STYLE, console_style_css, sizeof console_style_css},
    {"console/support-plans.mjs", SCRIPT, console_support_plans_mjs, sizeof console_support_plans_mjs},
    {"console/timeline.mjs", SCRIPT, console_timeline_mjs, sizeof console_timeline_mjs},
    {"console/trust.mjs", SCRIPT, console_trust_mjs, sizeof console_trust_mjs},
    {"console/verdicts.mjs", SCRIPT, console_verdicts_mjs, sizeof console_verdicts_mjs},
    {"console/view-access-log.mjs", SCRIPT, console_view_access_log_mjs, sizeof console_view_access_log_mjs},
    {"console/view-access.mjs", SCRIPT, console_view_access_mjs, sizeof console_view_access_mjs},
    {"console/view-account.mjs", SCRIPT, console_view_account_mjs, sizeof console_view_account_mjs},
    {"console/view-as-of.mjs", SCRIPT, console_view_as_of_mjs, sizeof console_view_as_of_mjs},
    {"console/view-compare.mjs", SCRIPT, console_view_compare_mjs, sizeof console_view_compare_mjs},
    {"console/view-conflicts.mjs", SCRIPT, console_view_conflicts_mjs, sizeof console_view_conflicts_mjs},
    {"console/view-erase.mjs", SCRIPT, console_view_erase_mjs, sizeof console_view_erase_mjs},
    {"console/view-erasures.mjs", SCRIPT, console_view_erasures_mjs, sizeof console_view_erasures_mjs},
    {"console/view-event.mjs", SCRIPT, console_view_event_mjs, sizeof console_view_event_mjs},
    {"console/view-events.mjs", SCRIPT, console_view_events_mjs, sizeof console_view_events_mjs},
    {"console/view-export.mjs", SCRIPT, console_view_export_mjs, sizeof console_view_export_mjs},
    {"console/view-factor.mjs", SCRIPT, console_view_factor_mjs, sizeof console_view_factor_mjs},
    {"console/view-hold.mjs", SCRIPT, console_view_hold_mjs, sizeof console_view_hold_mjs},
    {"console/view-holds.mjs", SCRIPT, console_view_holds_mjs, sizeof console_view_holds_mjs},
    {"console/view-log.mjs", SCRIPT, console_view_log_mjs, sizeof console_view_log_mjs},
    {"console/view-merge.mjs", SCRIPT, console_view_merge_mjs, sizeof console_view_merge_mjs},
    {"console/view-overview.mjs", SCRIPT, console_view_overview_mjs, sizeof console_view_overview_mjs},
    {"console/view-owner.mjs", SCRIPT, console_view_owner_mjs, sizeof console_view_owner_mjs},
    {"console/view-picture.mjs", SCRIPT, console_view_picture_mjs, sizeof console_view_picture_mjs},
    {"console/view-relink.mjs", SCRIPT, console_view_relink_mjs, sizeof console_view_relink_mjs},
    {"console/view-search.mjs", SCRIPT, console_view_search_mjs, sizeof console_view_search_mjs},
    {"console/view-timelines.mjs", SCRIPT, console_view_timelines_mjs, sizeof console_view_timelines_mjs},
    {"console/view-undo.mjs", SCRIPT, console_view_undo_mjs, sizeof console_view_undo_mjs},
    {"console/view-unlink.mjs", SCRIPT, console_view_unlink_mjs, sizeof console_view_unlink_mjs},
    {"console/words.mjs", SCRIPT, console_words_mjs, sizeof console_words_mjs},
    {"lib/api.mjs", SCRIPT, lib_api_mjs, sizeof lib_api_mjs},
    {"lib/dialog.mjs", SCRIPT, lib_dialog_mjs, sizeof lib_dialog_mjs},
    {"lib/el.mjs", SCRIPT, lib_el_mjs, sizeof lib_el_mjs},
    {"lib/form.mjs", SCRIPT, lib_form_mjs, sizeof lib_form_mjs},
    {"lib/languages.mjs", SCRIPT, lib_languages_mjs, sizeof lib_languages_mjs},
    {"lib/passkeys.mjs", SCRIPT, lib_passkeys_mjs, sizeof lib_passkeys_mjs},
    {"lib/qr.mjs", SCRIPT, lib_qr_mjs, sizeof lib_qr_mjs},
    {"proof/bundle-files.mjs", SCRIPT, proof_bundle_files_mjs, sizeof proof_bundle_files_mjs},
    {"proof/bundle.mjs", SCRIPT, proof_bundle_mjs, sizeof proof_bundle_mjs},
    {"proof/bytes.mjs", SCRIPT, proof_bytes_mjs, sizeof proof_bytes_mjs},
    {"proof/entry.mjs", SCRIPT, proof_entry_mjs, sizeof proof_entry_mjs},
    {"proof/event.mjs", SCRIPT, proof_event_mjs, sizeof proof_event_mjs},
    {"proof/histories.mjs", SCRIPT, proof_histories_mjs, sizeof proof_histories_mjs},
    {"proof/note.mjs", SCRIPT, proof_note_mjs, sizeof proof_note_mjs},
    {"proof/rfc6962.mjs", SCRIPT, proof_rfc6962_mjs, sizeof proof_rfc6962_mjs},
    {"proof/tar.mjs", SCRIPT, proof_tar_mjs, sizeof proof_tar_mjs},
    {"proof/tlog-proof.mjs", SCRIPT, proof_tlog_proof_mjs, sizeof proof_tlog_proof_mjs},
    {"proof/witness.mjs", SCRIPT, proof_witness_mjs, sizeof proof_witness_mjs},
    {"texts/de-more.mjs", SCRIPT, texts_de_more_mjs, sizeof texts_de_more_mjs},
    {"texts/de.mjs", SCRIPT, texts_de_mjs, sizeof texts_de_mjs},
    {"texts/en-more.mjs", SCRIPT, texts_en_more_mjs, sizeof texts_en_more_mjs},
    {"texts/en.mjs", SCRIPT, texts_en_mjs, sizeof texts_en_mjs},
    {"texts/es-more.mjs", SCRIPT, texts_es_more_mjs, sizeof texts_es_more_mjs},
    {"texts/es.mjs", SCRIPT, texts_es_mjs, sizeof texts_es_mjs},
    {"texts/fr-more.mjs", SCRIPT, texts_fr_more_mjs, sizeof texts_fr_more_mjs},
    {"texts/fr.mjs", SCRIPT, texts_fr_mjs, sizeof texts_fr_mjs},
    {"texts/ja-more.mjs", SCRIPT, texts_ja_more_mjs, sizeof texts_ja_more_mjs},
    {"texts/ja.mjs", SCRIPT, texts_ja_mjs, sizeof texts_ja_mjs},
    {"texts/zh-Hant-more.mjs", SCRIPT, texts_zh_Hant_more_mjs, sizeof texts_zh_Hant_more_mjs},
    {"texts/zh-Hant.mjs", SCRIPT, texts_zh_Hant_mjs, sizeof texts_zh_Hant_mjs},
};

const struct page_asset *page_asset(size_t number) {
    return number < sizeof assets / sizeof *assets ? &assets[number] : NULL;
}
