// Digests and Ed25519 signatures by the browser's own cryptography, as Python's documents/signing.py makes them.

import { canonicalBytes } from "../engine/canonical_json.js";
import { PageError, REFUSED_BY_RULE } from "../engine/page_errors.js";

/** The browser's own cryptography, which it does not give to a page that came over an unprotected connection. */
function ownCryptography() {
  if (crypto.subtle) return crypto.subtle;
  throw new PageError("the browser gives no digests and signatures to a page that came over a connection without TLS.", {
    fix: "save the page and open it from the disk, or open it by https.",
  });
}

/** The digest of some bytes, as documents and ledgers write it. */
export async function digestOf(bytes) {
  const digest = new Uint8Array(await ownCryptography().digest("SHA-256", bytes));
  return `sha256:${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The digest of a document without some of its fields. */
export function digestWithout(document, fields) {
  return digestOf(canonicalBytes(without(document, fields)));
}

function without(document, fields) {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !fields.includes(name)));
}

/** What is signed: the schema, a line end, and the canonical bytes, unsigned. */
function signedBytes(document) {
  const head = new TextEncoder().encode(`${document.schema}\n`);
  const body = canonicalBytes(without(document, ["signature"]));
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function imported(format, bytes, use) {
  try {
    return await ownCryptography().importKey(format, bytes, "Ed25519", false, [use]);
  } catch (error) {
    if (error.name !== "NotSupportedError") throw error;
    throw new PageError("this browser knows no Ed25519 signatures.", {
      fix: "use a browser of 2025 or later, or the command fedparity sketch.",
      code: REFUSED_BY_RULE,
    });
  }
}

/** Whether a signature of a document fits a public key; both are base64. */
export async function signatureFits(document, signature, publicKey) {
  try {
    const key = await imported("raw", bytesOf(publicKey), "verify");
    return await ownCryptography().verify("Ed25519", key, bytesOf(signature), signedBytes(document));
  } catch (error) {
    if (error instanceof PageError) throw error;
    return false;
  }
}

/** The private key of a PEM text, as `fedparity keygen` writes it. */
export async function privateKey(pem) {
  if (pem.includes("ENCRYPTED")) {
    throw new PageError("the key has a passphrase, which the page does not ask for.", {
      fix: "use the command: fedparity sketch PLAN DATA --silo NAME --sign KEY.",
    });
  }
  const found = /^-----BEGIN PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/.exec(pem);
  try {
    if (found) return await imported("pkcs8", bytesOf(found[1].replace(/\s/g, "")), "sign");
  } catch (error) {
    if (error instanceof PageError) throw error;
  }
  throw new PageError("the file does not hold a private key for signatures (Ed25519).", {
    fix: "choose the file NAME.key that fedparity keygen wrote.",
  });
}

/** The same document with the signature of this key. */
export async function signed(document, key) {
  const mark = new Uint8Array(await ownCryptography().sign("Ed25519", key, signedBytes(document)));
  return { ...document, signature: btoa(String.fromCharCode(...mark)) };
}
