import { constants } from "node:zlib";
import compression from "compression";

/**
 * Compresses responses of the console API. Those of `auth` procedures contain tokens and stay uncompressed,
 * because the compressed length can reveal a secret (BREACH). Others need a token that no other site can
 * send.
 */
export const compressAnswers = compression({
  threshold: 1_024,
  // A window of 64 KB bounds the memory of each response. The default is 4 MB.
  brotli: { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } },
  filter: (request, response) =>
    !/[/,]auth\./.test(request.originalUrl) && compression.filter(request, response),
});
