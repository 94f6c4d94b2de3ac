import { constants } from "node:zlib";
import compression from "compression";

/**
 * Compresses the console API's answers. Answers of `auth` procedures contain tokens and stay uncompressed, because the
 * length of compressed data can reveal a secret (BREACH). Other answers need a token that no other site can send.
 */
export const compressAnswers = compression({
  threshold: 1_024,
  // A window of 64 KB bounds the memory of each answer. The default is 4 MB.
  brotli: { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } },
  filter: (request, response) =>
    !/[/,]auth\./.test(request.originalUrl) && compression.filter(request, response),
});
