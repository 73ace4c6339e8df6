// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/certificate.hpp"
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>

using namespace ossatura;

namespace {
const std::vector<ResultCheck> checks = {
    {"residual", 1e-7, 1e-6}, {"force_balance", 0.25, 1e-3}, {"work", std::nan(""), 1}};
}

TEST_CASE("a check passes at its bound and not beyond, nor without a number", "[certificate]") {
  CHECK(ResultCheck{"a", 1, 1}.passed());
  CHECK(ResultCheck{"a", -2, 1}.passed());
  CHECK_FALSE(ResultCheck{"a", std::nextafter(1, 2), 1}.passed());
  CHECK_FALSE(ResultCheck{"a", std::nan(""), 1}.passed());
  CHECK_FALSE(ResultCheck{"a", 1, std::nan("")}.passed());
  CHECK_FALSE(ResultCheck{"a", INFINITY, 1}.passed());
  CHECK(all_passed({checks[0]}));
  CHECK_FALSE(all_passed(checks));
  CHECK_FALSE(all_passed({})); // nothing is proved
}

TEST_CASE("the checks that failed are named with value and bound", "[certificate]") {
  CHECK(failed_checks({1e-6, {checks[0]}}).empty());
  CHECK(failed_checks({1e-6, {checks[0], checks[1]}}) ==
        "force_balance is 0.25, at most 0.001 may be");
  CHECK(failed_checks({1e-6, checks}).find("; work is nan, at most 1 may be") != std::string::npos);
  CHECK(certificate_text({1e-6, {checks[0]}}) == "Certificate\n  checks  1 check passed\n");
  const std::string text = certificate_text({1e-6, checks});
  CHECK(text.find("1 check passed") != std::string::npos);
  CHECK(text.find("force_balance  0.25, at most 0.001 may be  FAILED") != std::string::npos);
}

TEST_CASE("a certificate names files as the folder of the summary has them", "[certificate]") {
  const std::vector<FileRecord> inputs = {{"in/a.mha", 7, "00000000000000ff"}};
  const std::string here = std::filesystem::current_path().string();
  const std::vector<FileRecord> outputs = {{"out/a.hdf", 1, "1"},
                                           {here + "/out/sub/b.hdf", 2, "2"},
                                           {"out/../c.csv", 3, "3"},
                                           {"output/d.csv", 4, "4"}};
  const nlohmann::ordered_json json = to_json({{}, checks}, inputs, outputs, "out");
  CHECK(json["tolerance"].is_null());
  CHECK(json["passed"] == false);
  CHECK(json["checks"].size() == 3);
  CHECK(json["checks"][1] ==
        nlohmann::ordered_json(
            {{"name", "force_balance"}, {"value", 0.25}, {"bound", 1e-3}, {"passed", false}}));
  CHECK(
      json["inputs"][0] ==
      nlohmann::ordered_json({{"file", "in/a.mha"}, {"bytes", 7}, {"xxh64", "00000000000000ff"}}));
  CHECK(json["files"][0]["file"] == "a.hdf");
  CHECK(json["files"][1]["file"] == "sub/b.hdf");
  CHECK(json["files"][2]["file"] == "out/../c.csv");
  CHECK(json["files"][3]["file"] == "output/d.csv");
  CHECK(to_json({1e-6, {}}, {}, outputs, "")["files"][0]["file"] == "out/a.hdf");
  CHECK(to_json({1e-6, {}}, {}, {}, "")["tolerance"] == 1e-6);
}
