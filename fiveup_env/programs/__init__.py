"""Agents in any language: programs that read and write lines of JSON, by the protocol fiveup-agent.

messages   what both sides write, and how it is read
process    our side: a program in a process of its own, asked for moves
confined   the launcher, which keeps a program from the memory of others
agent      the agent `program:COMMAND`
serve      the other side: any agent of ours as such a program

docs/use/programs.md specifies the protocol.
"""
