/** Names that the console must render as text. */
export const hostileNames = [
  `<img src=x onerror="alert(1)"><script>alert(2)</script>`,
  `"><svg onload=alert(3)>`,
  "{{constructor.constructor('alert(4)')()}} ${alert(5)}",
  "javascript:alert(6)",
  "👩‍👩‍👧‍👦 🏳️‍🌈 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L",
  "مفتاح \u{202e}gnp.exe مرحبا",
  "'; DROP TABLE api_keys; --",
  "W".repeat(255),
];
