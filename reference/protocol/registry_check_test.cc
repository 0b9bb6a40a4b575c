// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/registry_check.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

// A release that holds together; each test breaks it in one way.
struct Release {
  std::vector<EnumMember> members = {{"PING", 1}, {"NOOP", 2}};
  std::vector<ProtocolModuleData> modules = {
      {"controller", {"PING"}, {{"PING", {{}, "bool", "BLOCKING"}}}},
      {"debug", {"NOOP"}, {{"NOOP", {{}, "str", "SYNC"}}}},
  };

  RegistryError error() const {
    const std::optional<RegistryError> error = check_protocols(members, modules);
    EXPECT_TRUE(error.has_value());
    return error.value_or(RegistryError{});
  }
};

TEST(RegistryCheck, AcceptsAReleaseThatHoldsTogether) {
  EXPECT_FALSE(check_protocols(Release().members, Release().modules).has_value());
}

TEST(RegistryCheck, AcceptsRelease045) {
  const Registry& registry = registry_0_4_5();
  const std::vector<ProtocolModuleData> modules = protocol_modules(registry);
  EXPECT_EQ(modules.size(), 6U);
  EXPECT_FALSE(check_protocols(enum_members(registry), modules).has_value());
}

TEST(RegistryCheck, RefusesANameClaimedByTwoGroups) {
  Release release;
  release.modules[1].definitions.push_back(release.modules[0].definitions[0]);
  EXPECT_EQ(release.error().fault, RegistryFault::kDuplicateDefinition);
  EXPECT_EQ(release.error().message,
            "Duplicate protocol definition 'PING' found in modules 'controller' and 'debug'");
}

TEST(RegistryCheck, RefusesANameWithoutDefinition) {
  Release release;
  release.modules[0].request_names.push_back("CLEAR");
  EXPECT_EQ(release.error().fault, RegistryFault::kNameWithoutDefinition);
  EXPECT_EQ(release.error().message,
            "Request name 'CLEAR' in module 'controller' is listed in REQUEST_NAMES but has no "
            "protocol definition");
}

TEST(RegistryCheck, RefusesADefinitionWithoutEnumMember) {
  Release release;
  release.members.pop_back();
  EXPECT_EQ(release.error().fault, RegistryFault::kDefinitionWithoutEnumMember);
  EXPECT_EQ(release.error().message,
            "Protocol definition 'NOOP' in module 'debug' has no corresponding RequestType enum "
            "member. Add 'RequestType.NOOP' to protocols/base.py");
}

TEST(RegistryCheck, RefusesAnEnumMemberWithoutDefinition) {
  Release release;
  release.members.push_back({"CLEAR", 3});
  EXPECT_EQ(release.error().fault, RegistryFault::kEnumMemberWithoutDefinition);
  EXPECT_EQ(release.error().message,
            "RequestType enum members {'CLEAR'} have no protocol definitions. Add definitions to "
            "the appropriate protocol module or remove from the enum.");
}

TEST(RegistryCheck, RefusesADefinitionWithoutName) {
  Release release;
  release.modules[1].request_names.clear();
  EXPECT_EQ(release.error().fault, RegistryFault::kDefinitionWithoutName);
  EXPECT_EQ(release.error().name, "NOOP");
  EXPECT_EQ(release.error().module, "debug");
}

TEST(RegistryCheck, RefusesKindsThatNobodyKnows) {
  Release payload;
  payload.modules[0].definitions[0].second.payload_classes = {"int", "float"};
  EXPECT_EQ(payload.error().fault, RegistryFault::kUnknownPayloadClass);
  Release response;
  response.modules[0].definitions[0].second.response_class = "dict";
  EXPECT_EQ(response.error().fault, RegistryFault::kUnknownResponseClass);
  Release handler;
  handler.modules[0].definitions[0].second.handler_type = "ASYNC";
  EXPECT_EQ(handler.error().fault, RegistryFault::kUnknownHandlerType);
}

TEST(RegistryCheck, RefusesTwoMembersWithOneNameOrNumber) {
  Release name;
  name.members.push_back({"PING", 3});
  EXPECT_EQ(name.error().fault, RegistryFault::kDuplicateEnumMember);
  Release number;
  number.members[1].number = 1;
  EXPECT_EQ(number.error().fault, RegistryFault::kDuplicateEnumMember);
}

TEST(RegistryCheck, NamesTheFirstFaultInTheOrderOfTheRealCheck) {
  Release release;  // broken in three ways; modules come before the enum, the enum before kinds
  release.members.push_back({"CLEAR", 3});
  release.modules[0].definitions[0].second.handler_type = "ASYNC";
  release.modules[1].request_names.push_back("STORE");
  EXPECT_EQ(release.error().fault, RegistryFault::kNameWithoutDefinition);
  release.modules[1].request_names.pop_back();
  EXPECT_EQ(release.error().fault, RegistryFault::kEnumMemberWithoutDefinition);
  release.members.pop_back();
  EXPECT_EQ(release.error().fault, RegistryFault::kUnknownHandlerType);
}

}  // namespace
}  // namespace kvc
