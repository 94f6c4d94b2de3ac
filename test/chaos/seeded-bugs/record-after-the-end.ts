import { UsageRecorder } from "../../../gateway/usage/recording/usage-recorder.ts";

/** The answer first, and its record when there is time for it. */
const { record } = UsageRecorder.prototype;
UsageRecorder.prototype.record = function (row, started, proceed) {
  proceed();
  setTimeout(() => record.call(this, row, started, () => {}), 1_000);
};
