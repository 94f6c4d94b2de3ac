import { UsageRecorder } from "../../../gateway/usage/recording/usage-recorder.ts";

/** Ends the response before its record is written. */
const { record } = UsageRecorder.prototype;
UsageRecorder.prototype.record = function (row, started, proceed) {
  proceed();
  setTimeout(() => record.call(this, row, started, () => {}), 1_000);
};
