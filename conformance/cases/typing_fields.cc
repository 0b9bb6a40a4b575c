// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing, one level down: the fields of a Key, of LayoutHints, of a BlockAllocationRecord, of a
// CBMatchResult. Each field refuses every other kind, and to be missing where it has no default.
// One request type for each such payload has a case for each field and kind; the other types that
// carry the same payload have one case each for all of them.
#include <fmt/format.h>

#include <set>

#include "conformance/cases/families.h"
#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/cases/typing.h"

namespace kvc::conformance {
namespace {

// The names and types alone: what the table of ids is made of.
std::vector<Field> fields_of(WireType wire) {
  switch (wire) {
    case WireType::kKey:
      return {{"model_name", WireType::kStr, true, {}},
              {"world_size", WireType::kInt, true, {}},
              {"worker_id", WireType::kOptionalInt, true, {}},
              {"token_ids", WireType::kIntList, true, {}},
              {"start", WireType::kInt, true, {}},
              {"end", WireType::kInt, true, {}},
              {"request_id", WireType::kStr, true, {}},
              {"cache_salt", WireType::kStr, false, {}}};
    case WireType::kLayoutHints:
      return {{"kv_layout", WireType::kStr, false, {}},
              {"num_kv_heads", WireType::kInt, false, {}},
              {"tokens_per_block", WireType::kInt, false, {}},
              {"head_dim", WireType::kInt, false, {}},
              {"inference_engine_logical_block_size", WireType::kInt, false, {}}};
    case WireType::kBlockAllocationRecords:
      return {{"req_id", WireType::kStr, true, {}},
              {"new_block_ids", WireType::kIntList, true, {}},
              {"new_token_ids", WireType::kIntList, true, {}}};
    case WireType::kCBMatchResults:
      return {{"old_st", WireType::kInt, true, {}},
              {"old_ed", WireType::kInt, true, {}},
              {"cur_st", WireType::kInt, true, {}},
              {"cur_ed", WireType::kInt, true, {}},
              {"hash", WireType::kBytes, true, {}}};
    default:
      return {};
  }
}

// Kinds, and values of the right kind that are wrong: what a field of this type refuses.
std::vector<Family> refused_in(const Field& field) {
  std::vector<Family> out = refused_kinds(field.type);
  for (Family& family : refused_values(field.type, msg::array({}))) {
    if (family.name.starts_with("Lying")) continue;  // would swallow the fields behind it
    out.push_back(std::move(family));
  }
  if (field.name == "kv_layout")
    out.push_back({"UnknownName", {msg::str(""), msg::str("nhd"), msg::str("NHDX")}});
  return out;
}

// The honest request has all fields, so that a case about one of them changes nothing else.
void expect_field_refused(Case& test, RequestType type, std::size_t index, WireType wire,
                          const std::string& name,
                          const std::vector<std::optional<Bytes>>& documents,
                          const std::string& kind) {
  Stage stage(test);
  Client client = test.client();
  const std::vector<Field> fields = stage.fields(type, index);
  const Frames honest = stage.with(type, index, composed(wire, fields, "", std::nullopt));
  std::vector<Frames> others;
  for (const std::optional<Bytes>& document : documents) {
    others.push_back(honest);
    others.back()[index] = composed(wire, fields, name, document);
  }
  expect_only_honest_answered(
      client, type, honest, others,
      fmt::format("{} with {} for {}.{}", to_string(type), kind, payload_names(type)[index], name));
}

void add_field_case(CaseList& list, const FieldMutation& mutation) {
  const std::string_view name = to_string(mutation.type);
  list.add({
      .id = mutation.id(),
      .proves = {requirement_of(mutation.wire), requirement_of(mutation.field.type),
                 "typing.refusal-is-silent"},
      .claim = fmt::format("{} whose {} has a {} of the kind {} is refused: no reply, and the next "
                           "request is served.",
                           name, to_string(mutation.wire), mutation.field.name, mutation.kind),
      .needs = capabilities_of(mutation.type),
      .body =
          [=](Case& test) {
            expect_field_refused(test, mutation.type, mutation.index, mutation.wire,
                                 mutation.field.name, mutation.documents, mutation.kind);
          },
  });
}

std::vector<std::optional<Bytes>> optional_all(const std::vector<Bytes>& documents) {
  return {documents.begin(), documents.end()};
}

void add_each_field(std::vector<FieldMutation>& out, RequestType type, std::size_t index,
                    WireType wire) {
  for (const Field& field : fields_of(wire)) {
    for (const Family& family : refused_in(field))
      out.push_back({type, index, wire, field, family.name, optional_all(family.documents)});
    if (field.required) out.push_back({type, index, wire, field, "Missing", {std::nullopt}});
  }
}

void add_all_fields_at_once(CaseList& list, RequestType type, std::size_t index, WireType wire) {
  list.add({
      .id = fmt::format("Typing.{}_RefusesEveryWrongField", position_name(type, index)),
      .proves = {requirement_of(wire), "typing.refusal-is-silent"},
      .claim = fmt::format("{} is refused when a field of its {} is of another kind or missing.",
                           to_string(type), to_string(wire)),
      .needs = capabilities_of(type),
      .body =
          [=](Case& test) {
            Stage stage(test);
            Client client = test.client();
            const std::vector<Field> fields = stage.fields(type, index);
            const Frames honest = stage.valid(type);
            std::vector<Frames> others;
            const auto add = [&](const Field& field, const std::optional<Bytes>& document) {
              others.push_back(honest);
              others.back()[index] = composed(wire, fields, field.name, document);
            };
            for (const Field& field : fields) {
              for (const Family& family : refused_in(field)) add(field, family.documents.back());
              if (field.required) add(field, std::nullopt);
            }
            expect_only_honest_answered(client, type, honest, others,
                                        fmt::format("{} with a wrong field", to_string(type)));
          },
  });
}

// LOOKUP before STORE and RETRIEVE: it needs no device.
std::vector<const Definition*> lookup_first(const Registry& registry) {
  std::vector<const Definition*> out;
  if (const Definition* lookup = registry.find(RequestType::kLookup)) out.push_back(lookup);
  for (const Definition& definition : registry.definitions())
    if (definition.type != RequestType::kLookup) out.push_back(&definition);
  return out;
}

}  // namespace

Bytes composed(WireType wire, const std::vector<Field>& fields, const std::string& name,
               const std::optional<Bytes>& document) {
  std::vector<msg::Pair> pairs;
  for (const Field& field : fields) {
    if (field.name != name)
      pairs.emplace_back(msg::str(field.name), field.valid);
    else if (document)
      pairs.emplace_back(msg::str(field.name), *document);
  }
  return Stage::compose(wire, pairs);
}

std::string FieldMutation::id() const {
  return fmt::format("Typing.{}_{}_Refuses{}", position_name(type, index), field.name, kind);
}

std::vector<FieldMutation> field_mutations(const Registry& registry) {
  std::vector<FieldMutation> out;
  std::set<WireType> seen;
  for (const Definition* definition : lookup_first(registry))
    for (std::size_t i = 0; i < definition->payloads.size(); ++i)
      if (seen.insert(definition->payloads[i]).second)
        add_each_field(out, definition->type, i, definition->payloads[i]);
  return out;
}

void add_typing_field_cases(CaseList& list, const Registry& registry) {
  for (const FieldMutation& mutation : field_mutations(registry)) add_field_case(list, mutation);
  std::set<WireType> seen;
  for (const Definition* definition : lookup_first(registry)) {
    for (std::size_t i = 0; i < definition->payloads.size(); ++i) {
      const WireType wire = definition->payloads[i];
      if (fields_of(wire).empty() || seen.insert(wire).second) continue;
      add_all_fields_at_once(list, definition->type, i, wire);
    }
  }
}

}  // namespace kvc::conformance
