"""The machine code of stub.c, written by tools/derive_stub.py: bytes in base 85 and where its functions begin."""

CODE = {
    "x86_64": (
        (
            "RY-~DNQ30?NP+Bt0001q1SCj_d?W}+iF70oNQqP=7)XgsBp^(QL?kFoiA*FgNR34hNQp!wNM;Y#L?l>d57ta1U}g{2R3vC-57t~Ha7c;g=&}I-0LjBuNMrxK"
            "EC2uiQ%H%^x_|%x071F{KmY(mF~CJJ$w-Ol4+Thx!AOJn{B-6>g}`_<x<CK`0KF{$002cX(nT@AMKQ@piReg)-VX&xgZTV(=}3e4KuE{I;Q#;sxBvhE07wr+"
            "$ViFETV2CJS4A<>Ns0GGF~C7qMKQ@iiT=I?00;m<RlflM001%4K~zD!DF6TfRZNNCQ%H>+1poj44+SyOi9{syNr@MQz<CYFL?rb8|NsB#<NyEwNr}WrWB7}c"
            "2mlBGMKRJyjk62@2mnPfz(q01xGDeu01pL7g}`{rNR5N2K?ndyjjN~u2mnZlL?rk`i){cwjYa>1`2BY~i@N{-2mnNh?nN=uMKQodG08E~xat4^01pL7g}`|m"
            "M2YBw$^Y;Vu}uJV4oG8t1h@kL002md)(-_pgT)X?Icy~Ob*(Y>L5&nPf#UxI002md(MZAJ1V{ndi-D*C2mp<E|AYVib|^@};si*IloO}{2mtUz53w?J6*0g>"
            "iJ`0k2mnZlfv^Dx07;1#>k9wIf&Ksl004EYi$o;!TU|k1L0v&!L0`i`S25B>G15gbz(H0;G0C{P0000;iPk|?K~z;!NQwJMiPuPh?C1ah01pL7jV;3c|Nn_Y"
            "1VM?!NR5R600;m`i9>j}CjbBd4+T4g000O8bW}-+#zishLB9h4002UZge|B62mt@cgZTY-8!^&JW4tY_0SEv^G15gbz(q01Oo{kNiPjGVG15Yblr5+M2mncg"
            "#Slq>{Qy7!0Cm4aiM0R#2mmqCL5&0yCI15e0Exj!!Qljpj47xA2mnDj%ybZi$#gOQ!h!k#1ONba*Xt#Nz#0#?3rNA>1W1jv1qc8L07#2g2uO)^Bp67A(sdT;"
            "MF9W+F~ASE3o-Uci9{qA=`;ZV07#7m<oy5tIf#G(2mp0ki$V~C_y~0f|3Vb$6#)PMjYt7VYrr^(N)SkkO9)5-&`60$7)Xm#5J-toAV`Z-7)XgwC`gM_AV`T&"
            "Fi4A2C`gG=I7o|AFi43|KuC*INJxuP_(+LRNb7nzh=c(M0CjnbdK88Kbq9+=5QV^X4uk&zgV+CwdKBrV00030$ViJz2#G=vNNd12NCD7Di*Oi7i7`lva3DyF"
            "O9+W^2uO=?C`gM-5J-tJNQ-bVNQ+AliE#)>i*Ptdi%S?ti7`lva6m|lOCU&zF-VI*NJxo72r<Cv!2tjOIf#e>2mo~rNQ+YtNQ*-VNQn^Z<T;3p0SEwf7f6eH"
            "2uOwhbPhy|LIg#Hz<32ji3jV&If#$}2mo{lIf#@22mo~jgE|0pu($>Q002mhJ*)fw|B1pmjF*4`2mo~xNQ+ZQOp5|ci9<L@i&6+kiBmxTz=QY-b=ydV_H+e{"
            "ZUpNONR4zP7(|KZ=r;WS|B1y&jYK3MNQvHw??{QlNQp!w2<Wl<|NlsZzz>Oz0000;WBo-j?LmXj|GfhM002ylH8=bJ|3r!CNWtI)MmwZ1r~wE7bu3JY=t#lf"
            "1WApQ2B-lD07Qx4@I()>I&~8<(nT@SMKQodG08}Y=tzmy4+Tm8#Yutv00aO4b+<^3bR-x=iRb93`~Uw)i&P{CNQvHw$BD)0EBpWdNQuI@=K}x$NQKf5h=2e9"
            "07#8oBw$F3Oe7#ki$o+SNQKFD6-bLzBp67A(sW`-i%cXiNQp`a>sLts$xMq(Bv?#~L?lp5i&P{?NQ+b?KuC*pBsfTmd?YY+1P=x41x$(2|IkQ_R3r#UiQb9t"
            "M2Tc1WXD7#VE+IAe@KZ$BxvZQ`v3n(g}`}=xaR`^07!wv=l}o!TU|k1L0v&!L0`j(_`^tv_(+NRNQwT63WUjY3`qaNfcY;-4@C0o?nsRl2>Sp3NP)rt0SEwq"
            "IskMdNQv=4iaJ1q|8yBZIyrR+NdLk}|H13)iV8^o!i33n_v_fhfH?ql??{aW%=!QSNCkiZ2mr%KjRn5>|NqB;1ONyC0RR91F~Gxx_H{N$jRmIp|Nn!y1ONyC"
            "0CXlX(nx{qhyVZpiI4;U2mnZl=f?yj|NsAg=!*OQ|44zvhyVZp!@~"
        ),
        {"la_objopen": 1595, "la_activity": 1615, "la_objsearch": 1494, "la_version": 1491, "entry": 0},
    ),
    "aarch64": (
        (
            "{d>2m{R04z@Dl*J;D-UJ;*SEU<d*}f=AQ(q;6nnD;G+ep;D-in;*SSy;6nhBa{vI8{d>u%zyn{_=K}(&27Ex1-~$G#$Qgjr0uX@G0|1E91OR~21pt830RRBh"
            "9}obs0RR6~zybKT-~$G#;R6S%=ox_00tkT80|0>11OR~21pt830RRBh9}obs;Qs$q9{>XD-~)h?01%&=zyn{_>jMF*p#Xr=>H`2O$QXdqAOL{U0Rf=$0sw&0"
            "0|0>11OR~21pt83srmm90RRBhe*pmb=K}z$?gIcSfB^V54gi1>-~$dSzyn{_ECE810DM4`fiVD)Xc>Ugf(bym0RRBh;Qs%&CILc`FA+kK#-Ij~@1X{f5CDJ@"
            "%>Y2TpalR?9}EC7r~&{~fB`_c;R6jSXb^zX0sw&00|0>11OR~21pt830RRBhfC2cnz<ghb9{>$&VE_PB(EI_2f&c$CzdHlfp#T6>C<lPj0RVu~zyyG~0RRBh"
            "#y|j({{aT;!TkSJ1OR|iLIDH|LnJ_wLL_|CA^`%6LI6UMK&U~v0R#Y1KMVjd=>Y&#BM}3OV*o;tW1t3+VSHbRKL7x0VE_PBYWxL=h5!FGzdHlfp#T6>N2~$4"
            "U)TWoV*vp9!2kajgaiN)p8ybX;r#zpy#N0f{d=#e@&f>>NEU$7{R04z004l}0RVu~0sw&00|0>11OR~21pt83^HTw-^;-g|_ZtBD0RRBhX72wG^#cH^^aB7Y"
            "$pAu;h!ud+Kn4K0004l}Nj?Di0RRBh>H`3(AOS$RUjYDXpaK9?#{fc+%Me15=b#3WYoP{_-~d3m00aP09}EC7C;<ReC<lPj0RVu~0sw&00|0>11OR~21pt83"
            "-~@oV0RRBh{{#WJe*p*ULH_?#Dggkw0sw$gfC2&w0VDtt03>|VAOQf20H{H^p8^1D00;n7fB*nALIeO2UjPts!T$eL;UfW&-~$yZZU6t5^8)}X_Co=Y;R6z?"
            ";sX|{-~$sXP5=Lw00sEAhv)wgbACXR=>S5J1^|H43IKo-z<hkuAOQf20H{H^p8^1DVFCbD;1C9j002Uf0H6ku0eoMGKL8YKVE_PB3j6|yg8%<DzdHlfAprnX"
            "C<lPj-~$t?0RVu~0sw&00|0>11OR~21pt830RRBh#smP7-vAKt;r#zp;UfW&-~$yZMF0Pn^8)}X;sX|{;R6z?CjbAJfDrh%^+N)Y_jeyM<|9R^W)1+g;3q)&"
            "U;qHL;WI$_0R#Z~-~$M%EC2u$AZP#);e!n_AW$HS#sC0|<|hF8!URD1VgLZO(*!`d!T<jkLE!%oApk;=KmtH{BY;7<9{>YuK?DF)K@dQ>KOg{cp#T6>Komf^"
            "00aOLKokJE^8f!AAOrvrLk2+kKo9`A-~$0F0SAE600;q_0}KH9K?*?m0T2NBK@LFq0TclFK@vdu0T=-JK^8#y0UQANK^j2$0U!YRK_)=?A%Iu-0VDwV004l}"
            "^HV{o^;<%z_ZvX@{d>`<zyn{_BZNV@9{>YuK?DF)Komf^U;qF$K@dQ>p#T6i9{>Px;Rl}@0003?+W-F-AOrwW0SAE6Ko9`A00;q_K?Xqi0}Md<BLD#TK?Xqi"
            "0}w#@BM1PwK?*?m0~A2{BLD#TK?*?m0~kR0BM1PwK@LFq0~|p4BLD#TK@vdu10X>8BLD#T03<;9Km-8!*Z=<)BZxt{9{>YufdBwhK!!l60RRB`(f|J!BaA`0"
            "9{>Yu;Q#<sLk2+kqW}Q3L<B&&WB~X#WB>rU$p8NrBalJ49{>YufB*ngA(TP69{>Ss;q(7gKmb6w0Qmnkod5q9;0H#j;txlu<QGV(-vj{hVF3VC0RRBh;sX|{"
            ";R6+__frxn;7<Vg-~$sXqyGPw0Pz2|;Cz76vH$-U00BSN_W%DEzyn{_;R67w;{yPyA^<=+0s#OuA<_R3Apk;=ApiuCA^<=+!U6y^;sXP!2LJ#RAp`)CU%UWu"
            "V-SIw^#A`CAp`)CLIePjBmh7;<NyFPMF2oKzW@YlK>z<#A{0P4;{X3O@BjZ7LI6NHg8%<DK+gXV002Uf0007!zyn{_z|H><002UfApn3<0R#ZK004kezyn{_"
            "!2tj@;LQIJ002Uf0R%v~K>+|X{d>2m{R04z9|Qoo006KO;1dA3;6nhB-2VTU{d>u%zyn{_zyn{_"
        ),
        {"la_objopen": 1608, "la_activity": 1632, "la_objsearch": 1484, "la_version": 1480, "entry": 0},
    ),
}
