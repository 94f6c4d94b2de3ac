import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/**
 * Returns an X.509 certificate (RFC 5280), signed by `issuer` or self-signed as an authority. Node cannot
 * create certificates, and openssl is not always installed.
 */
export function makeCertificate({ name, hosts = [], issuer, days = 1 }: CertificateOptions): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const extensions = issuer
    ? [extension("551d11", sequence(...hosts.map(alternativeName)))]
    : [extension("551d13", sequence(tag(0x01, Buffer.from([0xff]))), true)];
  const certified = sequence(
    tag(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName(issuer?.name ?? name),
    sequence(time(-2), time(days)),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }),
    tag(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", certified, issuer ? createPrivateKey(issuer.key) : privateKey);
  const signed = sequence(certified, ecdsaWithSha256, bitString(signature));
  return { name, key: toPem(privateKey), certificate: toPem(signed) };
}

type CertificateOptions = {
  name: string;
  hosts?: string[];
  issuer?: Certificate;
  /** The validity in days. Negative for an expired certificate. */
  days?: number;
};

/** `key` and `certificate` are PEM. */
export type Certificate = { name: string; key: string; certificate: string };

function toPem(thing: KeyObject | Buffer): string {
  if (!Buffer.isBuffer(thing)) return thing.export({ type: "pkcs8", format: "pem" }).toString();
  const lines = thing.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Encodes DER: a type, a length, the content. */
function tag(type: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}

const sequence = (...contents: Buffer[]) => tag(0x30, ...contents);
const integer = (bytes: Buffer) => tag(0x02, bytes);
const bitString = (bytes: Buffer) => tag(0x03, Buffer.from([0]), bytes);
const objectId = (hex: string) => tag(0x06, Buffer.from(hex, "hex"));
const ecdsaWithSha256 = sequence(objectId("2a8648ce3d040302"));

function distinguishedName(name: string): Buffer {
  return sequence(tag(0x31, sequence(objectId("550403"), tag(0x0c, Buffer.from(name)))));
}

function alternativeName(host: string): Buffer {
  return isIPv4(host) ? tag(0x87, Buffer.from(host.split(".").map(Number))) : tag(0x82, Buffer.from(host));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [tag(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectId(id), ...critical, tag(0x04, value));
}

function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, "");
  return tag(0x17, Buffer.from(text.slice(2)));
}
