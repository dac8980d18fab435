// @ts-check
/** Every sentence of the page, in English. A word in braces is filled in. */
export default {
  language: "English",
  title: "Five Up",
  you: "You",
  partnerOf: "your partner",
  and: "{one} and {two}",

  // Buttons
  undo: "Take back", again: "Same deal", fresh: "New game", learn: "Learn", daily: "Deal of the day",
  games: "My games", study: "Study", menu: "Menu", close: "Close", cancel: "Cancel", moves: "Moves", eyes: "Eyes",
  mistakes: "My mistakes", sound: "Sound", pace: "Pace", slow: "slow", normal: "normal", fast: "fast", atOnce: "at once",
  about: "Keys: 1–9 or ← → choose a tile, Enter sets it, Esc lets go, U takes back, N begins anew, S studies.",
  toTable: "To the table",
  tongue: "Language",

  // The table
  total: "Total {total}", boneyard: "{count} in the boneyard", hand: "Hand {number}", target: "to {target}",
  tiles: "{count} tiles", oneTile: "1 tile", yourHand: "Your hand", whereTo: "Where the tile may go",
  yourTurn: "Your turn.", yourLead: "You lead: choose any tile.",
  youPlay: "You set {tile}{on}: total {total}{gain}.", otherPlays: "{who} sets {tile}{on}: total {total}{gain}.",
  onEnd: " on the {pip}", onDouble: " on the double {pip}", gain: ", {points} points", gainOne: ", 1 point",
  youDraw: "You draw {count}.", otherDraws: "{who} draws {count}.", youPass: "You pass.", otherPasses: "{who} passes.",
  drawsShort: "draws {count}", passesShort: "passes",
  lead: "Lead", toEnd: "On the {pip}: total {total}", toDouble: "On the double {pip}: total {total}",
  draw: "Draw a tile", pass: "Pass", plus: "+{points}",
  emptyFelt: "No tile yet", takenBack: "Taken back.", nothingToUndo: "There is nothing to take back.",
  openEnds: "Open ends: {ends}. Total {total}.", endPlain: "{pip}", endDouble: "double {pip}, which counts {counts}",
  backs: "{who} has {tiles}", whyScore: "Why did this score?",
  why: "The open ends are {ends}. Together they make {total}, and {total} is {multiple} times {fives}: {points}.",
  whyNot: "The open ends are {ends}. Together they make {total}, which is no multiple of {multiple}: no points.",
  pointsMany: "{points} points", pointsOne: "1 point", unitNote: "In this game a total scores all its pips.",

  // The end of a hand and of the game
  domino: "{who} went out.", blocked: "Nobody can play: the hand is blocked.", reached: "The target was reached.",
  youWent: "You went out.", nothingLeft: "nothing", pips: "{pips} pips",
  rounded: "{pips} pips, rounded: {fives}", endPoints: "The end of the hand brings", nextHand: "Next hand",
  handOver: "Hand {number} is over", youWin: "You win!", weWin: "You and {partner} win!", otherWins: "{who} wins.",
  othersWin: "{who} win.",
  gameOver: "The game is over", finalScore: "Score {scores}", studyGame: "Study this game",
  roundHand: "Each hand is rounded to the nearest multiple of {multiple}.", roundAll: "The sum that is paid, {pips} pips, is rounded to the nearest multiple of {multiple}.",

  // New game
  rules: "Rules", players: "Players", sides: "Sides", partners: "two partnerships", alone: "each alone", playTo: "Play to",
  levelPartner: "Your partner plays", levelOthers: "Your opponents play", deal: "Deal", advanced: "Advanced",
  seedLabel: "Number of the deal", specs: "Agents by their specs, one for each other seat", ownTarget: "points",
  confirmStudy: "This game is not over. A study shows all tiles, so it ends here. Study it?", yesStudy: "End and study",
  confirmLeave: "This game is not over. It is kept under My games. Begin the same deal once more?", yes: "Begin again",
  rule_five_up: "Five Up: every double branches, a point for each five; tiles still held at the end cost points.",
  rule_five_up_armanino: "Five Up after Armanino: whoever goes out is paid for what the others hold, in his way of counting.",
  rule_five_up_fosdick: "Five Up after Fosdick: whoever goes out is paid for what the others hold, and the target ends the game at once.",
  rule_five_up_first_to_61: "Five Up to the first 61: the game ends the moment a side reaches the target.",
  rule_all_fives: "All Fives: only the first double branches, and a total scores all its pips.",
  rule_all_fives_cribbage: "All Fives on a cribbage board: as All Fives, with a point for each five.",
  rule_muggins: "Muggins: no double branches, and a total scores all its pips.",
  level_greedy: "Gus takes the most points he sees now", level_defensive: "Dora also looks at what she leaves to others",
  level_partner: "Pia knows all the ladder knows, her partner too", level_student: "Stella has learnt from millions of deals",
  level_pimc: "Simon plays each move out in hundreds of worlds", level_search: "Sara learnt, and looks ahead: the strongest here",
  name_greedy: "Gus Greta Gero Gina", name_defensive: "Dora Dan Della Dirk", name_partner: "Pia Paul Petra Piet", name_student: "Stella Sten Sofia Sven", name_pimc: "Simon Silja Silas Sina", name_search: "Sara Samuel Salome Sander",

  // My games, files
  noGames: "No games yet.", open: "Open", remove: "Remove", save: "Save as a file", saveAll: "Save all", load: "Open a file",
  copyLink: "Copy a link to this deal", copied: "Copied.", running: "running", won: "won", lost: "lost",
  errorRate: "error rate {rate} %", mean: "Mean error rate", results: "{won} won, {lost} lost",
  badFile: "{name} is not a game that this page can read: {why}",
  diskFull: "The browser's storage is full: this game goes on, but is not kept. Save it as a file.",
  noStorage: "The browser keeps nothing here: the game goes on, but is gone with this page. Save it as a file.",
  serverGone: "The server does not answer. {who} plays as Pia does until it is back.",
  serverSilent: "The server does not answer; games are kept in the browser.",
  otherTab: "This game went on in another tab.", broken: "A kept game could not be read and was set aside.",
  failed: "Something failed: {why}. The game is kept.",

  // Deal of the day
  dailyIntro: "Today everybody has the same tiles against the same players: one hand, {date}.",
  dailyDone: "You made {own} to {other} today.", dailyAgents: "In your seat, with the same tiles:",
  share: "Copy a line to share", shareLine: "Five Up, {date}: {own} to {other} (Sara: {best})", played: "Played today.",
  compare: "{who}: {own} to {other}",

  // Study
  chance: "Chance to win, seen by", decides: "{who} decided", noChoice: "Nobody had a choice here.",
  isBest: "{move} is the best move.", lostChance: "{move} loses {percent} of the chance to win, in points {points}. Better: {best}.",
  about95: "Chances are of winning the game, from 1,000 worlds that fit what the player saw; ± is 95 %.",
  first: "First", back: "Back", forward: "Forward", last: "Last", nextMistake: "Next mistake", biggest: "Biggest mistake",
  tryAgain: "Try again from before", judging: "{done} of {all} judged", rates: "Error rates", rateHead: "|mistakes|loss (%)|points",
  of: "{some} of {all}", luck: "Luck and skill", luckHead: "|luck|skill", inAll: "in all", handShort: "hand {number}",
  why_points: "The best move scores {points} now, this one {own}.", why_leaves: "It leaves {count} hidden tiles that score for the next player, up to {most}; the best move {other}, up to {otherMost}.", noMistake: "No mistakes were found.",
  dealt: "Hand {number} is dealt.", handEnds: "Hand {number} ends.",
  noMistakes: "There are no mistakes to practise yet: study a game first.", findBetter: "Find better than {move}.",
  found: "Yes: {move} is the best move.", notFound: "{move} loses {percent}. Try another.",

  // Puzzles
  puzzles: "Puzzles", puzzleIntro: "Positions in which one move is best. The more stars, the fewer agents find it.",
  puzzleAny: "Any grade", puzzleGrade: "Grade {grade} of 5", puzzleRun: "Solved in a row: {run}, at most {longest}",
  puzzleCounts: "{done} of {all} solved, {run} in a row", puzzleTask: "Your turn: which move wins most often?",
  puzzleWrong: "{move} loses {points} percentage points of the chance to win. The best move is {best}.",
  puzzleProven: "Proven: wherever the hidden tiles lie, it brings most if all play perfectly.",
  puzzleAbout: "Chances are of winning the game, from thousands of worlds that fit what you know.",
  noPuzzle: "There is no puzzle {number}.",

  // Eyes
  eyeMoves: "What each move is worth", yard: "boneyard", eyeHidden: "Where the hidden tiles are", worlds: "{count} worlds fit what you know",

  // Lessons
  lesson: "{number} of {count}: {name}", next: "Next", done: "To a game", tryIt: "Try again.",
  lesson1: "Ends and totals",
  lesson1a: "The row has two open ends, a 6 and a 4: together 10. Tiles join where their pips are equal. Set 6-5 on the 6, and look at the total.",
  lesson1b: "The ends are now 5 and 4: total 9. Only what is open counts.",
  lesson2: "Scoring by five",
  lesson2a: "A total that is a multiple of five scores: a point for each five. The ends are 5 and 4. Which of your tiles makes a multiple of five?",
  lesson2b: "6 and 4 make 10: two points. Every end shows what a tile would bring before you set it.",
  lesson3: "Doubles branch",
  lesson3a: "A double lies crosswise and counts both its halves. Set 5-5 on the 5.",
  lesson3b: "The double counts 10 as long as it is at the end. Once both its long sides are taken, its short ends are open too: the row branches.",
  lesson4: "Drawing and passing",
  lesson4a: "If no tile of yours fits, you draw from the boneyard until one does; if it is empty, you pass. The game does it for you: set 6-6, and watch the other hand.",
  lesson4b: "The other player had no 6 and drew. That is worth knowing: who drew, lacks that number.",
  lesson5: "The end of a hand",
  lesson5a: "Who sets the last tile goes out. Set yours.",
  lesson5b: "The hand is over. What the others hold counts against them: the pips, rounded to the nearest five. The first side to reach the target wins.",
};
