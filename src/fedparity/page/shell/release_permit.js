// The permission to release, asked before rows are read and again when the message is there (Python's silo/permit.py).

import { canonicalBytes } from "../engine/canonical_json.js";
import { byCodePoints, shownLabel } from "../engine/page_errors.js";
import { WrittenJson } from "./ledger_file.js";
import { allowed, checkApprovals, replacedMessage } from "./ledger_rules.js";
import { digestWithout, signatureFits, signed } from "./own_digests.js";
import { checkPolicy, datasetOf, refused } from "./policy_file.js";

/** What a silo may release under the plan; `told` is all that the page is told of it. */
export class ReleasePermit {
  constructor({ told, silo, policy, ledger, key, dataset, because, inPeriod, reading }) {
    Object.assign(this, { told, silo, policy, ledger, key, reading });
    this.because = because.trim();
    this.inPeriod = inPeriod;
    this.named = dataset.trim();
  }

  /** Raise what can be refused before rows are read. */
  async check() {
    const { told, policy, ledger } = this;
    await this.checkAuditor();
    checkPolicy(policy, told);
    if (told.engine.signed && !this.key) {
      throw refused("the plan has keys, so the message must be signed.", "choose the private key of this institution, NAME.key.");
    }
    this.dataset = datasetOf(policy, this.named);
    this.checkLedger();
    checkApprovals(ledger?.entries ?? [], told.engine.digest, policy);
    if (ledger) allowed(ledger.entries, this.entry(), policy, ledger.name);
  }

  /** The digest of a voided message that the new one replaces. */
  get replaces() {
    return this.ledger ? replacedMessage(this.ledger.entries, this.entry()) : null;
  }

  /** Sign and enter a message; return its bytes, its digest, and the ledger with its line. */
  async release(unsigned, accounting, time = new Date()) {
    const document = this.key ? await signed(unsigned, this.key) : unsigned;
    if (this.told.engine.signed) await this.checkOwnKey(document);
    const message = canonicalBytes(document);
    const digest = await digestWithout(document, ["signature"]);
    if (!this.ledger) return { message, document, digest, ledger: null };
    const entry = this.entry({
      time: time.toISOString().replace(/\.\d+Z$/, "+00:00"),
      release: await digestWithout(document, ["software", "signature"]),
      message: digest,
      replaces: document.replaces,
      rows: rowsEntry(accounting),
    });
    const isNew = allowed(this.ledger.entries, entry, this.policy, this.ledger.name);
    return { message, document, digest, ledger: isNew ? await this.ledger.with(entry) : this.ledger };
  }

  async checkAuditor() {
    const { policy, told } = this;
    const known = Object.values(policy.auditors);
    if (!known.length) return;
    const { signature } = told.document;
    if (!signature || !known.includes(signature.key)) {
      throw refused(
        `the plan is ${signature ? "signed with another key" : "not signed"}; ${policy.name} obeys only ${Object.keys(policy.auditors).join(", ")}.`,
        "ask the auditor to run fedparity plan sign; if the auditor's key changed, check the new one by another channel.",
      );
    }
    if (!(await signatureFits(told.document, signature.value, signature.key))) {
      throw refused("the signature does not fit the plan: it was changed after it was signed.", "ask the auditor for the plan as it was signed.");
    }
    if ((await digestWithout(told.document, ["signature"])) !== told.engine.digest) {
      throw refused("the page says one plan and follows another.", "do not use this page; ask for one, and check it with fedparity page --verify.");
    }
  }

  checkLedger() {
    const { policy, ledger } = this;
    if (!ledger && !policy.without_ledger) {
      throw refused(`${policy.name} allows no message that no ledger knows of.`, "choose the ledger of this institution, or begin one.");
    }
    if (!ledger) return;
    const own = policy.ledger?.split(/[\\/]/).at(-1);
    if (own && ledger.name !== own) {
      throw refused(`${policy.name} names another ledger, ${policy.ledger}.`, "choose that file; to move the ledger, change the policy.");
    }
    if (policy.must_exist && (ledger.isNew || !ledger.entries.length)) {
      throw refused(`there is no ledger, and ${policy.name} says that it exists.`, "find out where it is; if it is lost, run fedparity ledger init --because TEXT.");
    }
  }

  async checkOwnKey(document) {
    const own = this.told.document.keys[this.silo];
    if (own && (await signatureFits(document, document.signature, own))) return;
    throw refused(`the key is not the one that the plan has for silo ${this.silo}.`, "choose the file NAME.key whose public key the auditor has.");
  }

  /** The line of a release, in the order of Python's fields; what is absent is left out. */
  entry({ time, release, message, replaces, rows } = {}) {
    const stated = {
      entry: "release",
      time,
      plan: this.told.engine.digest,
      silo: this.silo,
      dataset: this.dataset ?? undefined,
      release,
      message,
      replaces,
      view: new WrittenJson(this.told.view),
      in_period: this.inPeriod || undefined,
      because: this.because || undefined,
      reading: this.reading,
      rows,
    };
    return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
  }
}

function rowsEntry({ read, filtered, withoutScore, relabeled }) {
  const named = relabeled.map(({ label, group, reason, rows }) => ({ label, group, reason, rows }));
  const shown = (each) => `${each.label === null ? "None" : shownLabel(each.label)}, ${shownLabel(each.group)}, ${each.reason}`;
  named.sort((a, b) => b.rows - a.rows || byCodePoints(shown(a), shown(b)));
  return { read, filtered, without_score: withoutScore, weightless: 0, relabeled: named };
}
