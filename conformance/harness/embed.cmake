# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=requirements.yaml -DOUTPUT=embedded_ledger.cc -DNAME=embedded_ledger
#       -DHEADER=conformance/harness/embedded_ledger.h -P embed.cmake
# Writes a source file with a function NAME of HEADER that answers the text of INPUT. Characters one by one, because
# a string literal must not be too long (-Woverlength-strings: 65536).
file(READ ${INPUT} text HEX)
set(source "// Made by embed.cmake.\n#include \"${HEADER}\"\n\n")
string(APPEND source "namespace kvc::conformance {\nnamespace {\n\nconstexpr char kText[] = {\n")
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${text}")
string(APPEND source "${bytes}\n'\\0'};\n\n}  // namespace\n\n")
string(APPEND source "std::string_view ${NAME}() { return {kText, sizeof(kText) - 1}; }\n\n")
string(APPEND source "}  // namespace kvc::conformance\n")
file(WRITE ${OUTPUT} "${source}")
