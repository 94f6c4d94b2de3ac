import { crc32 } from "node:zlib";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";

export type UsageRecord = UsageRecordRow;

/**
 * Writes a record into the buffer: the length of its JSON and a checksum, 32 bits each, then the JSON.
 * The checksum is the CRC32 that Node has; that of Castagnoli (CRC32C) finds torn writes no better, and would have to be
 * computed in JavaScript.
 * @returns how many bytes it takes; 0 when the buffer has too few behind `at`
 */
export function encodeRecord(buffer: Buffer, record: UsageRecord, at = 0): number {
  // A number, because a date takes as long to write as all the rest.
  const text = JSON.stringify({ ...record, createdAt: record.createdAt.getTime() });
  // A character of JavaScript's takes three bytes at most.
  const room = buffer.length - headBytes - at;
  if (text.length * 3 > room && Buffer.byteLength(text) > room) return 0;
  const length = buffer.write(text, at + headBytes, "utf8");
  buffer.writeUInt32LE(length, at);
  buffer.writeUInt32LE(crc32(text), at + 4);
  return headBytes + length;
}

/** The records one after another, up to the first that is not whole: what a crash tore is at the end. */
export function decodeRecords(bytes: Buffer): { records: UsageRecord[]; tornBytes: number } {
  const records: UsageRecord[] = [];
  let at = 0;
  for (let record = decodeRecord(bytes, at); record; record = decodeRecord(bytes, at)) {
    records.push(record);
    at += headBytes + bytes.readUInt32LE(at);
  }
  return { records, tornBytes: bytes.length - at };
}

/** The record that begins there, or null where no whole one does. */
export function decodeRecord(bytes: Buffer, at: number): UsageRecord | null {
  if (at + headBytes > bytes.length) return null;
  const start = at + headBytes;
  const end = start + bytes.readUInt32LE(at);
  if (end === start || end > bytes.length) return null;
  if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32LE(at + 4)) return null;
  const record = JSON.parse(bytes.toString("utf8", start, end)) as UsageRecord;
  const { limitedBy = null, errorReason = null } = record;
  // The release before knew nothing of whose limit it was or why, and may have left records behind.
  return { ...record, createdAt: new Date(record.createdAt), limitedBy, errorReason };
}

const headBytes = 8;
