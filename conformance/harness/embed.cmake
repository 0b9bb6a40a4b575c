# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=requirements.yaml -DOUTPUT=embedded_ledger.cc -P embed.cmake
# Writes a source file with the text of INPUT in it. Characters one by one, because a string literal must not be
# too long (-Woverlength-strings: 65536).
file(READ ${INPUT} text HEX)
string(LENGTH "${text}" digits)
set(source "// Made by embed.cmake.\n#include \"conformance/harness/embedded_ledger.h\"\n\n")
string(APPEND source "namespace kvc::conformance {\nnamespace {\n\nconstexpr char kText[] = {\n")
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${text}")
string(APPEND source "${bytes}\n'\\0'};\n\n}  // namespace\n\n")
string(APPEND source "std::string_view embedded_ledger() { return {kText, sizeof(kText) - 1}; }\n\n")
string(APPEND source "}  // namespace kvc::conformance\n")
file(WRITE ${OUTPUT} "${source}")
