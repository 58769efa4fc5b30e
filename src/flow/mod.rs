//! Flow documents: read, check, draw, compare and run them without starting a bot.
