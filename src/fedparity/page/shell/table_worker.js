// The frame's side of the worker: calls that can be stopped.

import { PageError } from "../engine/page_errors.js";

/** Starts the worker from the text in the page, and asks it one thing at a time. */
export class TableWorker {
  constructor(text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const rules = { createScriptURL: () => url };
    const trusted = self.trustedTypes ? self.trustedTypes.createPolicy("fedparity-worker", rules) : rules;
    this.start = () => new Worker(trusted.createScriptURL(""));
    this.worker = this.start();
    this.calls = 0;
    this.stop = () => {};
  }

  /** Ask for `call`, stopping what is under way; the file of `given` is handed on unread. */
  ask(call, given, onProgress = () => {}) {
    this.stop();
    const id = (this.calls += 1);
    return new Promise((resolve, reject) => {
      this.stop = () => {
        this.worker.terminate();
        this.worker = this.start();
        this.stop = () => {};
        reject(new PageError("reading was stopped.", { fix: "start again when you like; nothing was kept." }));
      };
      this.worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if (data.progress) return void onProgress(data.progress);
        this.stop = () => {};
        if (data.error) reject(new PageError(data.error.message, data.error));
        else resolve(data.answer);
      };
      this.worker.onerror = () => {
        this.stop = () => {};
        this.worker = this.start();
        reject(new PageError("the worker that reads the table broke off.", {
          fix: "close other programs if memory is short, or use the command fedparity sketch.",
        }));
      };
      this.worker.postMessage({ id, call, given });
    });
  }
}
