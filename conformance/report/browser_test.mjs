// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// node browser_test.mjs PAGE.html FOLDER: opens a report with failures in Chromium and checks what only a browser
// can: no error in the console, nothing asked of the network, filters, themes, a phone, paper. Leaves pictures in
// FOLDER. Speaks the DevTools protocol over two pipes, so it needs no package. Ends with "N passed, N failed".
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, folder] = process.argv.slice(2);
if (!folder) throw new Error("usage: node browser_test.mjs PAGE.html FOLDER");

class Browser {
  constructor(profile) {
    const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--remote-debugging-pipe", "--hide-scrollbars", `--user-data-dir=${profile}`, "about:blank"];
    this.process = spawn(process.env.CHROMIUM ?? "chromium", options,
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.process.on("error", (error) => { throw error; });
    this.waiting = new Map();
    this.events = [];
    this.listeners = new Map();
    this.next = 1;
    let text = "";
    this.process.stdio[4].on("data", (data) => {
      text += data;
      for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) this.#take(JSON.parse(text.slice(0, end)));
    });
  }

  #take(message) {
    if (message.id === undefined) {
      this.events.push(message);
      const listener = this.listeners.get(message.method);
      this.listeners.delete(message.method);
      return listener?.();
    }
    const { done, fail } = this.waiting.get(message.id);
    if (message.error) fail(new Error(message.error.message));
    else done(message.result);
  }

  call(method, params = {}) {
    const message = { id: this.next++, method, params, sessionId: this.session };
    this.process.stdio[3].write(JSON.stringify(message) + "\0");
    return new Promise((done, fail) => this.waiting.set(message.id, { done, fail }));
  }

  event(method) {
    return new Promise((done) => this.listeners.set(method, done));
  }

  async open() {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    this.session = (await this.call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.call(`${domain}.enable`);
  }

  async go(url) {
    for (const one of ["about:blank", url]) {  // another part of the same page would load nothing
      const loaded = this.event("Page.loadEventFired");
      await this.call("Page.navigate", { url: one });
      await loaded;
    }
  }

  async ask(expression) {
    const answer = await this.call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? expression);
    return answer.result.value;
  }

  async picture(name, full = false) {
    const { data } = await this.call("Page.captureScreenshot", { format: "png", captureBeyondViewport: full });
    writeFileSync(join(folder, name), Buffer.from(data, "base64"));
  }

  size(width, height, mobile = false) {
    return this.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
  }

  media(scheme, medium = "") {
    return this.call("Emulation.setEmulatedMedia",
      { media: medium, features: [{ name: "prefers-color-scheme", value: scheme }] });
  }
}

let passed = 0;
let failed = 0;
function check(what, good, seen = "") {
  if (good) ++passed;
  else ++failed;
  console.log(`${good ? "ok    " : "FAILED"} ${what}${good ? "" : `: ${JSON.stringify(seen)}`}`);
}

// In the page: the cases that can be seen, and typing into the filters.
const HELPERS = `
  window.seen = () => [...document.querySelectorAll(".case")].filter((one) => !one.hidden);
  window.set = (name, value) => {
    const field = document.getElementById("filters").elements[name];
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  window.luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  window.contrast = (selector) => {
    const style = getComputedStyle(document.querySelector(selector));
    let back = document.querySelector(selector);
    while (back && getComputedStyle(back).backgroundColor === "rgba(0, 0, 0, 0)") back = back.parentElement;
    const [a, b] = [luminance(style.color), luminance(getComputedStyle(back).backgroundColor)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };`;

async function opening(browser, url) {
  await browser.size(1280, 900);
  await browser.media("light");
  await browser.go(url);
  await browser.ask(HELPERS);
  check("it opens with the verdict in a sentence",
    /does not conform/.test(await browser.ask(`document.querySelector("h1").textContent`)));
  check("the score has a row an area", await browser.ask(`document.querySelectorAll("#score tbody tr").length`) > 1);
  check("each failure has expected and actual side by side", await browser.ask(`
    [...document.querySelectorAll("#failed .sides")].every((sides) => {
      const [a, b] = [...sides.children].map((side) => side.getBoundingClientRect());
      return a.top === b.top && a.right <= b.left && a.height > 0;
    }) && document.querySelectorAll("#failed .sides").length > 0`));
  const lacking = await browser.ask(`[...document.querySelectorAll("#failed .case")].filter((one) =>
    !one.querySelector(".rule") || !one.querySelector(".again code")?.textContent.includes("--filter")).map((one) => one.id)`);
  check("each failure has its rule and the command that shows it again", lacking.length === 0, lacking);
  await browser.picture("light.png");
}

async function filtering(browser) {
  const all = await browser.ask(`seen().length`);
  const fails = await browser.ask(`seen().filter((one) => one.dataset.grade === "fail").length`);
  check("all cases are shown at first", all === await browser.ask(`document.querySelectorAll(".case").length`));
  await browser.ask(`document.querySelectorAll("[name=grade]").forEach((box) => {
    if (box.value !== "fail" && box.checked) box.click(); })`);
  check("the boxes leave the failed ones", await browser.ask(`seen().length`) === fails && fails > 0 && fails < all);
  check("an empty group goes", await browser.ask(`document.getElementById("passed")?.hidden ?? true`));
  check("the address remembers it", await browser.ask(`location.hash.startsWith("#?hide=")`));
  await browser.ask(`document.getElementById("filters").querySelector("[type=reset]").click()`);
  await browser.ask(`new Promise((done) => setTimeout(done))`);
  check("reset shows all", await browser.ask(`seen().length`) === all);

  const id = await browser.ask(`document.querySelector("#failed .id").textContent`);
  await browser.ask(`set("text", ${JSON.stringify(id)})`);
  check("a text finds its case", await browser.ask(`seen().length >= 1 && seen().every((one) =>
    one.textContent.includes(${JSON.stringify(id)}))`));
  await browser.ask(`set("text", "no such text anywhere")`);
  check("a text that is nowhere finds none", await browser.ask(`seen().length`) === 0);
  check("the number of cases is told", /^0 of \d+ cases$/.test(await browser.ask(`document.querySelector("output").textContent`)));
  await browser.ask(`set("text", "")`);
  const area = id.split(".")[0];
  await browser.ask(`document.querySelector('[data-filter-area="${area}"]').click()`);
  check("an area of the score filters", await browser.ask(`seen().length > 0 && seen().every((one) => one.dataset.area === "${area}")`));
  await browser.ask(`set("area", "")`);
  await browser.ask(`set("level", "MUST")`);
  check("a level filters", await browser.ask(`seen().length > 0 && seen().every((one) => one.dataset.level === "MUST")`));
  await browser.ask(`set("level", "")`);
}

async function links(browser, url) {
  await browser.go(`${url}#?text=no+such+text`);
  await browser.ask(HELPERS);
  check("an address with filters is a view of them", await browser.ask(`seen().length`) === 0);
  const folded = await browser.ask(`document.querySelector("#passed .case, #skipped .case").id`);
  await browser.go(`${url}#${folded}`);
  check("a link opens what is folded", await browser.ask(`document.getElementById("${folded}").checkVisibility()`));
}

async function looks(browser, url) {
  await browser.media("dark");
  await browser.go(url);
  await browser.ask(HELPERS);
  check("it is dark where that is wished", await browser.ask(`luminance(getComputedStyle(document.body).backgroundColor)`) < 0.05);
  for (const scheme of ["dark", "light"]) {
    await browser.media(scheme);
    for (const selector of ["h1", ".quiet", "#failed .chip", "#failed pre", "#failed .id"])
      check(`${scheme}: ${selector} can be read`, await browser.ask(`contrast(${JSON.stringify(selector)})`) >= 4.5);
  }
  await browser.media("dark");
  await browser.picture("dark.png");
  await browser.ask(`document.getElementById("theme").click()`);
  check("the button makes it light", await browser.ask(`luminance(getComputedStyle(document.body).backgroundColor)`) > 0.8);

  await browser.size(390, 844, true);
  await browser.media("light");
  await browser.go(url);
  check("a phone need not scroll sideways",
    await browser.ask(`document.documentElement.scrollWidth <= innerWidth`), await browser.ask(`document.documentElement.scrollWidth`));
  await browser.picture("phone.png");
  await browser.ask(`document.querySelector("#failed .case").scrollIntoView()`);
  await browser.picture("phone-failure.png");

  await browser.size(1280, 900);
  await browser.ask(`dispatchEvent(new Event("beforeprint"))`);
  await browser.media("dark", "print");
  check("paper is white and has no filters", await browser.ask(`
    getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" &&
    !document.getElementById("filters").checkVisibility() && !document.getElementById("theme").checkVisibility()`));
  const { data } = await browser.call("Page.printToPDF", {});
  writeFileSync(join(folder, "print.pdf"), Buffer.from(data, "base64"));
  check("it can be printed", data.length > 1000);
}

async function withoutScripts(browser, url) {
  await browser.media("light");
  await browser.call("Emulation.setScriptExecutionDisabled", { value: true });
  await browser.go(url);
  const { root } = await browser.call("DOM.getDocument");
  const { nodeId } = await browser.call("DOM.querySelector", { nodeId: root.nodeId, selector: "#failed .sides" });
  check("without scripts the failures are there", (await browser.call("DOM.getBoxModel", { nodeId })).model.height > 0);
  await browser.picture("no-scripts.png");
}

const profile = mkdtempSync(join(tmpdir(), "kvc-browser-"));
const browser = new Browser(profile);
try {
  const url = pathToFileURL(resolve(page)).href;
  await browser.open();
  await opening(browser, url);
  await filtering(browser);
  await links(browser, url);
  await looks(browser, url);
  await withoutScripts(browser, url);
  const complaints = browser.events.filter(({ method, params }) => method === "Runtime.exceptionThrown" ||
    (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) ||
    (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)));
  check("no error in the console", complaints.length === 0, complaints.slice(0, 3));
  const asked = browser.events.filter(({ method }) => method === "Network.requestWillBeSent")
    .map(({ params }) => params.request.url).filter((one) => !/^(file|data|about):/.test(one));
  check("nothing is asked of the network", asked.length === 0, asked);
} finally {
  const ended = new Promise((done) => browser.process.on("exit", done));
  await Promise.race([browser.call("Browser.close").catch(() => {}), ended]);
  await ended;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 25 ? 0 : 1;
