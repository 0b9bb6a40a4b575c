// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <numeric>

#include "mutants/flaw.h"

namespace kvc::mutants {
namespace {

FlawList make_all() {
  FlawList list;
  for (auto* add :
       {add_envelope_flaws, add_registry_flaws, add_typing_flaws, add_typing_map_flaws,
        add_registration_flaws, add_key_flaws, add_store_flaws, add_retrieve_flaws, add_event_flaws,
        add_lookup_flaws, add_lock_flaws, add_session_flaws, add_cache_flaws, add_blend_flaws,
        add_blend_lookup_flaws, add_handler_flaws, add_robustness_flaws, add_race_flaws})
    add(list);
  return list;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

const FlawList& all_flaws() {
  static const FlawList list = make_all();
  return list;
}

const Flaw* find_flaw(std::string_view name) {
  const FlawList& list = all_flaws();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Flaw& flaw) { return flaw.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string nearest_flaw_name(std::string_view name) {
  const FlawList& list = all_flaws();
  return std::min_element(list.begin(), list.end(),
                          [&](const Flaw& a, const Flaw& b) {
                            return edit_distance(a.name, name) < edit_distance(b.name, name);
                          })
      ->name;
}

}  // namespace kvc::mutants
