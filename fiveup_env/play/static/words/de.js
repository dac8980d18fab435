// @ts-check
/** Every sentence of the page, in German. A word in braces is filled in. */
export default {
  language: "Deutsch",
  title: "Five Up",
  you: "Sie",
  partnerOf: "Ihr Partner",
  and: "{one} und {two}",

  // Buttons
  undo: "Zurück", again: "Dieselben Steine", fresh: "Neues Spiel", learn: "Lernen", daily: "Blatt des Tages",
  games: "Meine Spiele", study: "Auswerten", menu: "Menü", close: "Schließen", cancel: "Abbrechen", moves: "Züge", eyes: "Einblicke",
  mistakes: "Meine Fehler", sound: "Ton", pace: "Tempo", slow: "langsam", normal: "normal", fast: "schnell", atOnce: "sofort",
  about: "Tasten: 1–9 oder ← → wählen einen Stein, Enter legt ihn, Esc lässt ihn los, U nimmt zurück, N beginnt neu, S wertet aus.",
  toTable: "Zum Tisch",
  tongue: "Sprache",

  // The table
  total: "Summe {total}", boneyard: "{count} im Talon", hand: "Runde {number}", target: "bis {target}",
  tiles: "{count} Steine", oneTile: "1 Stein", yourHand: "Ihre Hand", whereTo: "Wohin der Stein passt",
  yourTurn: "Sie sind am Zug.", yourLead: "Sie spielen aus: wählen Sie einen beliebigen Stein.",
  youPlay: "Sie legen {tile}{on}: Summe {total}{gain}.", otherPlays: "{who} legt {tile}{on}: Summe {total}{gain}.",
  onEnd: " an die {pip}", onDouble: " an den Pasch {pip}", gain: ", {points} Punkte", gainOne: ", 1 Punkt",
  youDraw: "Sie ziehen {count}.", otherDraws: "{who} zieht {count}.", youPass: "Sie passen.", otherPasses: "{who} passt.",
  drawsShort: "zieht {count}", passesShort: "passt",
  lead: "Ausspielen", toEnd: "An die {pip}: Summe {total}", toDouble: "An den Pasch {pip}: Summe {total}",
  draw: "Einen Stein ziehen", pass: "Passen", plus: "+{points}",
  emptyFelt: "Noch kein Stein", takenBack: "Zurückgenommen.", nothingToUndo: "Es gibt nichts zurückzunehmen.",
  openEnds: "Offene Enden: {ends}. Summe {total}.", endPlain: "{pip}", endDouble: "Pasch {pip}, der {counts} zählt",
  backs: "{who} hat {tiles}", whyScore: "Warum bringt das Punkte?",
  why: "Die offenen Enden sind {ends}. Zusammen sind das {total}, und {total} ist {fives}-mal {multiple}: {points}.",
  whyNot: "Die offenen Enden sind {ends}. Zusammen sind das {total}, kein Vielfaches von {multiple}: keine Punkte.",
  pointsMany: "{points} Punkte", pointsOne: "1 Punkt", unitNote: "In diesem Spiel zählt eine Summe mit allen ihren Augen.",

  // The end of a hand and of the game
  domino: "{who} hat den letzten Stein gelegt.", blocked: "Niemand kann legen: die Runde ist gesperrt.", reached: "Das Ziel ist erreicht.",
  youWent: "Sie haben den letzten Stein gelegt.", nothingLeft: "nichts", pips: "{pips} Augen",
  rounded: "{pips} Augen, gerundet: {fives}", endPoints: "Das Ende der Runde bringt", nextHand: "Nächste Runde",
  handOver: "Runde {number} ist zu Ende", youWin: "Sie gewinnen!", weWin: "Sie und {partner} gewinnen!", otherWins: "{who} gewinnt.",
  othersWin: "{who} gewinnen.",
  gameOver: "Das Spiel ist zu Ende", finalScore: "Stand {scores}", studyGame: "Dieses Spiel auswerten",
  roundHand: "Jede Hand wird auf das nächste Vielfache von {multiple} gerundet.", roundAll: "Die Summe, die bezahlt wird, {pips} Augen, wird auf das nächste Vielfache von {multiple} gerundet.",

  // New game
  rules: "Regeln", players: "Spieler", sides: "Parteien", partners: "zwei Partnerschaften", alone: "jeder für sich", playTo: "Gespielt wird bis",
  levelPartner: "Ihr Partner spielt wie", levelOthers: "Ihre Gegner spielen wie", deal: "Austeilen", advanced: "Für Fortgeschrittene",
  seedLabel: "Nummer der Verteilung", specs: "Agenten nach ihrer Beschreibung, einer für jeden anderen Platz", ownTarget: "Punkte",
  confirmStudy: "Dieses Spiel ist nicht zu Ende. Eine Auswertung zeigt alle Steine, also endet es hier. Auswerten?", yesStudy: "Beenden und auswerten",
  confirmLeave: "Dieses Spiel ist nicht zu Ende. Es bleibt unter Meine Spiele. Dieselbe Verteilung noch einmal beginnen?", yes: "Neu beginnen",
  rule_five_up: "Five Up: an jedem Pasch wird verzweigt, ein Punkt für je fünf Augen; wer am Ende Steine hält, verliert Punkte.",
  rule_five_up_armanino: "Five Up nach Armanino: wer ausgeht, bekommt auf seine Weise gezählt, was die anderen halten.",
  rule_five_up_fosdick: "Five Up nach Fosdick: wer ausgeht, bekommt, was die anderen halten, und das Ziel beendet das Spiel sofort.",
  rule_five_up_first_to_61: "Five Up bis 61: das Spiel endet, sobald eine Partei das Ziel erreicht.",
  rule_all_fives: "All Fives: nur am ersten Pasch wird verzweigt, und eine Summe zählt mit allen ihren Augen.",
  rule_all_fives_cribbage: "All Fives auf dem Cribbage-Brett: wie All Fives, mit einem Punkt für je fünf Augen.",
  rule_muggins: "Muggins: an keinem Pasch wird verzweigt, und eine Summe zählt mit allen ihren Augen.",
  level_greedy: "Gus nimmt die meisten Punkte, die er gerade sieht", level_defensive: "Dora achtet auch auf das, was sie anderen lässt",
  level_partner: "Pia kennt alle Regeln der Kunst, auch ihren Partner", level_student: "Stella hat aus Millionen Runden gelernt",
  level_pimc: "Simon spielt jeden Zug in Hunderten von Welten zu Ende", level_search: "Sara hat gelernt und rechnet voraus: die Stärkste hier",
  name_greedy: "Gus Greta Gero Gina", name_defensive: "Dora Dan Della Dirk", name_partner: "Pia Paul Petra Piet", name_student: "Stella Sten Sofia Sven", name_pimc: "Simon Silja Silas Sina", name_search: "Sara Samuel Salome Sander",

  // My games, files
  noGames: "Noch keine Spiele.", open: "Öffnen", remove: "Entfernen", save: "Als Datei sichern", saveAll: "Alle sichern", load: "Eine Datei öffnen",
  copyLink: "Einen Link auf diese Verteilung kopieren", copied: "Kopiert.", running: "läuft", won: "gewonnen", lost: "verloren",
  errorRate: "Fehlerquote {rate} %", mean: "Mittlere Fehlerquote", results: "{won} gewonnen, {lost} verloren",
  badFile: "{name} ist kein Spiel, das diese Seite lesen kann: {why}",
  diskFull: "Der Speicher des Browsers ist voll: das Spiel geht weiter, wird aber nicht aufbewahrt. Sichern Sie es als Datei.",
  noStorage: "Der Browser bewahrt hier nichts auf: das Spiel geht weiter, ist aber mit dieser Seite verloren. Sichern Sie es als Datei.",
  serverGone: "Der Server antwortet nicht. {who} spielt wie Pia, bis er wieder da ist.",
  serverSilent: "Der Server antwortet nicht; die Spiele bleiben im Browser.",
  otherTab: "Dieses Spiel ging in einem anderen Tab weiter.", broken: "Ein aufbewahrtes Spiel war nicht lesbar und wurde beiseitegelegt.",
  failed: "Etwas ist fehlgeschlagen: {why}. Das Spiel ist aufbewahrt.",

  // Deal of the day
  dailyIntro: "Heute haben alle dieselben Steine gegen dieselben Gegner: eine Runde, {date}.",
  dailyDone: "Sie haben heute {own} zu {other} gespielt.", dailyAgents: "An Ihrem Platz, mit denselben Steinen:",
  share: "Eine Zeile zum Teilen kopieren", shareLine: "Five Up, {date}: {own} zu {other} (Sara: {best})", played: "Heute schon gespielt.",
  compare: "{who}: {own} zu {other}",

  // Study
  chance: "Gewinnchance, gesehen von", decides: "{who} hatte die Wahl", noChoice: "Hier hatte niemand eine Wahl.",
  isBest: "{move} ist der beste Zug.", lostChance: "{move} kostet {percent} der Gewinnchance, in Punkten {points}. Besser: {best}.",
  about95: "Chancen, das Spiel zu gewinnen, aus 1.000 Welten, die zu dem passen, was der Spieler sah; ± sind 95 %.",
  first: "Anfang", back: "Zurück", forward: "Weiter", last: "Ende", nextMistake: "Nächster Fehler", biggest: "Größter Fehler",
  tryAgain: "Von davor noch einmal", judging: "{done} von {all} beurteilt", rates: "Fehlerquoten", rateHead: "|Fehler|Verlust (%)|Punkte",
  of: "{some} von {all}", luck: "Glück und Können", luckHead: "|Glück|Können", inAll: "insgesamt", handShort: "Runde {number}",
  why_points: "Der beste Zug bringt sofort {points}, dieser {own}.", why_leaves: "Danach bringen {count} verdeckte Steine dem nächsten Spieler Punkte, bis zu {most}; nach dem besten Zug {other}, bis zu {otherMost}.", noMistake: "Es wurden keine Fehler gefunden.",
  dealt: "Runde {number} ist ausgeteilt.", handEnds: "Runde {number} endet.",
  noMistakes: "Es gibt noch keine Fehler zum Üben: werten Sie zuerst ein Spiel aus.", findBetter: "Finden Sie Besseres als {move}.",
  found: "Ja: {move} ist der beste Zug.", notFound: "{move} kostet {percent}. Versuchen Sie einen anderen.",

  // Puzzles
  puzzles: "Aufgaben", puzzleIntro: "Stellungen, in denen ein Zug der beste ist. Je mehr Sterne, desto weniger Agenten finden ihn.",
  puzzleAny: "Alle Grade", puzzleGrade: "Grad {grade} von 5", puzzleRun: "Hintereinander gelöst: {run}, höchstens {longest}",
  puzzleCounts: "{done} von {all} gelöst, {run} hintereinander", puzzleTask: "Sie sind am Zug: welcher Zug gewinnt am häufigsten?",
  puzzleWrong: "{move} kostet {points} Prozentpunkte der Gewinnchance. Der beste Zug ist {best}.",
  puzzleProven: "Bewiesen: wo die verdeckten Steine auch liegen, er bringt am meisten, wenn alle vollkommen spielen.",
  puzzleAbout: "Chancen, das Spiel zu gewinnen, aus Tausenden von Welten, die zu dem passen, was Sie wissen.",
  noPuzzle: "Es gibt keine Aufgabe {number}.",

  // Eyes
  eyeMoves: "Was jeder Zug wert ist", yard: "Talon", eyeHidden: "Wo die verdeckten Steine liegen", worlds: "{count} Welten passen zu dem, was Sie wissen",

  // Lessons
  lesson: "{number} von {count}: {name}", next: "Weiter", done: "Zu einem Spiel", tryIt: "Versuchen Sie es noch einmal.",
  lesson1: "Enden und Summen",
  lesson1a: "Die Reihe hat zwei offene Enden, eine 6 und eine 4: zusammen 10. Steine werden mit gleichen Augen aneinandergelegt. Legen Sie 6-5 an die 6, und achten Sie auf die Summe.",
  lesson1b: "Die Enden sind jetzt 5 und 4: Summe 9. Nur was offen ist, zählt.",
  lesson2: "Punkte für je fünf",
  lesson2a: "Ein Vielfaches von fünf bringt Punkte: einen für je fünf. Die Enden sind 5 und 4. Mit welchem Ihrer Steine wird die Summe ein Vielfaches von fünf?",
  lesson2b: "6 und 4 sind 10: zwei Punkte. Jedes Ende zeigt, was ein Stein brächte, bevor Sie ihn legen.",
  lesson3: "An Paschen wird verzweigt",
  lesson3a: "Ein Pasch liegt quer und zählt mit beiden Hälften. Legen Sie 5-5 an die 5.",
  lesson3b: "Der Pasch zählt 10, solange er am Ende liegt. Sind beide Längsseiten belegt, sind auch seine Schmalseiten offen: die Reihe verzweigt sich.",
  lesson4: "Ziehen und Passen",
  lesson4a: "Passt keiner Ihrer Steine, so ziehen Sie aus dem Talon, bis einer passt; ist er leer, so passen Sie. Das Spiel tut es für Sie: legen Sie 6-6, und achten Sie auf die andere Hand.",
  lesson4b: "Der andere hatte keine 6 und hat gezogen. Das zu wissen lohnt sich: wer zieht, dem fehlt diese Zahl.",
  lesson5: "Das Ende einer Runde",
  lesson5a: "Wer den letzten Stein legt, geht aus. Legen Sie Ihren.",
  lesson5b: "Die Runde ist zu Ende. Was die anderen halten, zählt gegen sie: die Augen, auf das nächste Vielfache von fünf gerundet. Wer zuerst das Ziel erreicht, gewinnt.",
};
